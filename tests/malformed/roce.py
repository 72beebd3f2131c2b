# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""RoCE v2 packets, right ones and wrong ones, and the wire that they go over.

scapy makes the IP, UDP and base transport headers; the ICRC is computed here from
the specification (annex A17.3.3), over whatever bytes there are.
"""

import ctypes
import fcntl
import os
import select
import socket
import struct
import subprocess
import zlib

from scapy.compat import raw
from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

PORT = 4791
UDP_SEGMENT = 103
SO_ATTACH_FILTER = 26
SOL_PACKET, PACKET_VNET_HDR = 263, 15
TUNSETIFF, IFF_TAP, IFF_NO_PI, IFF_VNET_HDR = 0x400454ca, 0x0002, 0x1000, 0x4000
GSO_NONE, GSO_UDP, GSO_UDP_L4 = 0, 3, 5	# of a virtio_net header
ICRC_LEN = 4

SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM, SEND_ONLY, SEND_ONLY_IMM = range(6)
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM, WRITE_ONLY, WRITE_ONLY_IMM = range(6, 12)
READ_REQUEST, READ_FIRST, READ_MIDDLE, READ_LAST, READ_ONLY, ACK, ATOMIC_ACK = range(12, 19)
CMP_SWAP, FETCH_ADD = 0x13, 0x14
SEND_LAST_INV, SEND_ONLY_INV = 0x16, 0x17
CNP = 0x81

# AETH syndromes
ACK_CREDITS = 0x00	# and how many
ACK_NO_CREDITS = 0x1f
RNR = 0x20
NAK_PSN, NAK_INV_REQ, NAK_ACCESS, NAK_OP = 0x60, 0x61, 0x62, 0x63


def bth(victim, opcode, psn=None, **fields):
    """Twelve bytes, without the ICRC that scapy counts to this header."""
    if psn is None:
        psn = victim.psn
    header = BTH(opcode=opcode, dqpn=fields.pop("dqpn", victim.qpn),
                 psn=psn & 0xffffff, migreq=fields.pop("migreq", 1), icrc=0, **fields)
    return raw(header)[:12]


def reth(va, rkey, length):
    return struct.pack("!QII", va, rkey, length)


def atomiceth(va, rkey, swap_add, compare):
    return struct.pack("!QIQQ", va, rkey, swap_add, compare)


def aeth(syndrome, msn=0):
    return struct.pack("!I", syndrome << 24 | msn)


def icrc(ip, udp, transport):
    """@ip: 20 or 40 bytes. @udp: 8. @transport: from the BTH on, without ICRC."""
    ip, udp, transport = bytearray(ip), bytearray(udp), bytearray(transport)
    if len(ip) == 20:
        ip[1] = ip[8] = 0xff
        ip[10:12] = b"\xff\xff"
    else:
        ip[0] |= 0x0f
        ip[1:4] = b"\xff\xff\xff"
        ip[7] = 0xff
    udp[6:8] = b"\xff\xff"
    if len(transport) > 4:
        transport[4] = 0xff
    crc = zlib.crc32(b"\xff" * 8 + ip + udp + transport)
    return struct.pack("<I", crc)


class Wire:
    """Frames from netdev @netdev to the victim's end of the cable, and what comes back to
    queue pair @peer."""

    def __init__(self, netdev, peer_mac, addresses, addresses6, peer):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, self.filter_of(peer))
        self.socket.bind((netdev, 0))
        mac = self.socket.getsockname()[4].hex(":")
        self.ether = [raw(Ether(src=mac, dst=peer_mac, type=t)) for t in (0x0800, 0x86dd)]
        self.src, self.dst = addresses
        self.src6, self.dst6 = addresses6

    def packet(self, transport, ipv6=False, sport=0xc123, udp_len=None, crc=None, **ip):
        """IP, UDP and @transport with its ICRC: bytes."""
        if ipv6:
            layer = IPv6(src=ip.pop("src", self.src6), dst=ip.pop("dst", self.dst6),
                         nh=17, **ip)
        else:
            layer = IP(src=ip.pop("src", self.src), dst=ip.pop("dst", self.dst),
                       flags=ip.pop("flags", "DF"), id=ip.pop("id", 77), proto=17, **ip)
        udp = UDP(sport=sport, dport=PORT, len=udp_len)
        if not ipv6:
            udp.chksum = 0
        built = raw(layer / udp / (transport + bytes(ICRC_LEN)))
        if crc is None:
            head = 40 if ipv6 else 20
            after = len(built) - len(transport) - ICRC_LEN - 8
            crc = icrc(built[:head], built[after:after + 8], transport)
        if ipv6:		# its UDP checksum covers the ICRC
            return raw(layer / udp / (transport + crc))
        return built[:-ICRC_LEN] + crc

    def send(self, packet, ipv6=False):
        """@packet: from IP on."""
        self.socket.send(self.ether[ipv6] + raw(packet))

    def send_train(self, packets, seg_len):
        """@packets, as sealed6() takes them, in one GSO packet of the kernel's own making
        that says @seg_len. Any process may do this."""
        sender = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        sender.bind((self.src6, 0))
        data = b"".join(self.sealed6(p, sender.getsockname()[1]) for p in packets)
        try:
            sender.sendmsg([data], [(socket.SOL_UDP, UDP_SEGMENT, struct.pack("=H", seg_len))],
                           0, (self.dst6, PORT))
        finally:
            sender.close()

    def sealed6(self, transport, sport):
        """@transport and its ICRC, as it leaves over IPv6; a tuple: bytes as they are."""
        if isinstance(transport, tuple):
            return transport[0]
        built = raw(IPv6(src=self.src6, dst=self.dst6, nh=17) /
                    UDP(sport=sport, dport=PORT) / (transport + bytes(ICRC_LEN)))
        return transport + icrc(built[:40], built[40:48], transport)

    def gso_frame(self, transports, gso_type, gso_size, udp_len=None):
        """A frame with @transports as one UDP datagram over IPv4, each with the ICRC that it
        has alone, and the virtio_net header that claims what the arguments say."""
        data = b"".join(self.packet(t, id=77 + i)[28:] for i, t in enumerate(transports))
        frame = self.ether[0] + raw(IP(src=self.src, dst=self.dst, flags="DF", id=77, proto=17) /
                                    UDP(sport=0xc123, dport=PORT, len=udp_len, chksum=0) / data)
        # The checksum is said to be still missing: a train without that is refused.
        header = struct.pack("<BBHHHH", gso_type != GSO_NONE, gso_type, 14 + 20 + 8, gso_size,
                             14 + 20, 6)
        return header + frame

    def filter_of(self, peer):
        """A socket filter (struct sock_fprog) that lets packets to @peer through."""
        code = [(0x28, 0, 0, 12), (0x15, 0, 2, 0x0800),	# IPv4?
                (0x20, 0, 0, 14 + 20 + 8 + 4), (0x05, 0, 0, 1),
                (0x20, 0, 0, 14 + 40 + 8 + 4),
                (0x15, 0, 1, peer), (0x06, 0, 0, 65535), (0x06, 0, 0, 0)]
        self.code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *c) for c in code))
        return struct.pack("@HP", len(code), ctypes.addressof(self.code))

    def forget(self):
        while self._frame(0):
            pass

    def _frame(self, seconds):
        if not select.select([self.socket], [], [], seconds)[0]:
            return None
        return self.socket.recv(65536)

    def reply(self, seconds):
        """The next packet: (opcode, psn, bytes after the BTH), or None."""
        frame = self._frame(seconds)
        if not frame:
            return None
        offset = 14 + (20 if frame[12:14] == b"\x08\x00" else 40) + 8
        header = frame[offset:offset + 12]
        return header[0], int.from_bytes(header[9:12], "big"), frame[offset + 12:]


class Packets:
    """Frames with a virtio_net header, through a packet socket on @netdev."""

    def __init__(self, netdev):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        self.socket.bind((netdev, 0))

    def send(self, frame):
        self.socket.send(frame)

    def close(self):
        self.socket.close()


class Tap:
    """The same out of a tap in the victim's namespace: as if a virtual machine sent them."""

    def __init__(self, netns, mac):
        name = "forger"
        self.fd = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(self.fd, TUNSETIFF, struct.pack("16sH22x", name.encode(),
                                                    IFF_TAP | IFF_NO_PI | IFF_VNET_HDR))
        for command in (f"link set {name} address {mac} netns {netns}",
                        f"-n {netns} link set {name} up"):
            subprocess.run(["ip", *command.split()], check=True)

    def send(self, frame):
        os.write(self.fd, frame)

    def close(self):
        os.close(self.fd)
