/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tracepoints that do nothing. */
#define TP_PROTO(...)			__VA_ARGS__
#define DECLARE_EVENT_CLASS(name, ...)
#define TRACE_EVENT(name, proto, ...)	static inline void trace_##name(proto) {}
#define DEFINE_EVENT(class, name, proto, ...) TRACE_EVENT(name, TP_PROTO(proto))
