/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Model of qp->run: rxe_ordered/qp_run.c. Each atomic operation is one step, together
 * with what the code computes from it before the next one. What it has to show:
 *
 *  ALONE	there is one owner at most
 *  LOST	when everything has come to rest the word is zero, and all work that
 *		was brought has been done
 *
 *  RXS		softirqs, each brings a packet
 *  BELLS	doorbells, each posts a request and rings; they may want
 *  CTLS	processes that must touch the state
 *  ROUNDS	how often each does so
 *  STEPS	of an owner before it moves to the workqueue
 *  BUG		0, or the number of a mistake that a property has to find
 */
#ifndef RXS
#define RXS	1
#endif
#ifndef BELLS
#define BELLS	1
#endif
#ifndef CTLS
#define CTLS	0
#endif
#ifndef ROUNDS
#define ROUNDS	2
#endif
#ifndef STEPS
#define STEPS	1
#endif
#ifndef BUG
#define BUG	0
#endif

#define GIVE_UP_BLINDLY		1	/* a doorbell that has waited long enough */
#define GIVE_AND_FORGET		2	/* let go for a doorbell, drop the work bits */
#define LET_GO_BY_STORE		3	/* not by compare-and-swap */
#define IDLE_IF_NOT_OWNED	4	/* whatever else the word holds */
#define WANT_BY_STORE		5	/* take the ownership whoever has it by now */

#define OWNED	1
#define SQ	2
#define RX	4
#define CTL	8
#define MORE	16
#define WANT	32
#define WORK	(SQ | RX | MORE)

/* Always false: in the assertions to name the property. */
bool ALONE, LOST;

byte word;		/* qp->run */
byte packets;		/* in the receive queue */
byte requests;		/* in the send ring */
byte owners;
bool queued;		/* the work item, and the ownership with it */
bool granted;		/* to the process that has set CTL */
byte left = 1;		/* times that a step may leave work behind */
bool ctl_lock;

inline become_owner()
{
	owners++;
	assert(ALONE || owners == 1);
}

/* The step itself: packets always, requests if the doorbell has asked. */
inline do_step()
{
	d_step {
		packets = 0;
		if
		:: work & SQ -> requests = 0
		:: else
		fi;
		work = 0
	}
	if
	:: left > 0 -> d_step { left--; work = MORE }
	:: true
	fi
}

inline let_go()
{
	old = word;
	do
	:: d_step {
		all = (old & WORK) | work;
		if
		:: old & CTL -> next = (old | all | MORE) & ~CTL
		:: !(old & CTL) && (!all || old & WANT) ->
			next = (old | all) & ~OWNED;
			if
			:: BUG == GIVE_AND_FORGET -> next = next & ~WORK
			:: else
			fi
		:: else -> next = old & ~WORK
		fi
	   }
	   if
	   :: atomic {
		word == old || BUG == LET_GO_BY_STORE ->
		word = next;
		if
		:: old & CTL -> owners--; granted = true; work = 0
		:: !(old & CTL) && !(next & OWNED) -> owners--; work = 0
		:: else -> work = all
		fi;
		break
	      }
	   :: atomic { word != old && BUG != LET_GO_BY_STORE -> old = word }
	   fi
	od
}

inline run_owner()
{
	steps = STEPS;
	do
	:: work == 0 -> break
	:: work != 0 && steps == 0 ->
		atomic { word = word | work; work = 0; owners--; queued = true };
		break
	:: work != 0 && steps != 0 ->
		steps--;
		do_step();
		let_go()
	od
}

inline take_work()
{
	atomic { work = word & WORK; word = word & ~WORK }
}

inline try_idle(bits)
{
	atomic {
		if
		:: word == 0 || (BUG == IDLE_IF_NOT_OWNED && !(word & OWNED)) ->
			word = OWNED;
			become_owner();
			work = bits
		:: else
		fi
	}
}

inline bring(bits)
{
	try_idle(bits);
	if
	:: work == 0 ->
		atomic {
			old = word;
			word = word | bits | OWNED;
			if
			:: !(old & OWNED) -> become_owner()
			:: else
			fi
		}
		if
		:: !(old & OWNED) -> take_work()
		:: else
		fi
	:: else
	fi
}

inline want()
{
	word = word | WANT;
	do
	:: true ->
		old = word;
		d_step {
			next = old & ~WANT;
			work = 0;
			if
			:: !(old & OWNED) && (old & WORK) ->
				work = old & WORK;
				next = OWNED
			:: else
			fi
		}
		if
		/* Time may be up at any look. */
		:: atomic {
			(word == old || BUG == WANT_BY_STORE && work) ->
			word = next;
			if
			:: work -> become_owner()
			:: else -> assert(LOST || next & OWNED || !(next & WORK))
			fi;
			break
		   }
		:: BUG == GIVE_UP_BLINDLY && !work ->
			word = word & ~WANT;
			break
		:: work == 0 || word != old -> skip
		fi
	od
}

proctype softirq()
{
	byte i, work, old, next, all, steps;

	for (i : 1 .. ROUNDS) {
		/* The first one is handed over directly, the others are queued. */
		try_idle(RX);
		packets++;
		if
		:: work == 0 -> bring(RX)
		:: else
		fi;
		run_owner()
	}
}

proctype doorbell()
{
	byte i, work, old, next, all, steps;

	for (i : 1 .. ROUNDS) {
		requests++;
		bring(SQ);
		if
		:: work == 0 -> want()
		:: true
		fi;
		run_owner()
	}
}

proctype process()
{
	byte i, work, old, next, all, steps;

	for (i : 1 .. ROUNDS) {
		atomic { !ctl_lock -> ctl_lock = true };
		atomic {
			old = word;
			word = word | CTL | OWNED;
			if
			:: !(old & OWNED) -> become_owner()
			:: else
			fi
		}
		if
		:: old & OWNED -> atomic { granted -> granted = false; become_owner() }
		:: else -> word = word & ~CTL
		fi;
		take_work();
		work = work | MORE | SQ;
		run_owner();
		ctl_lock = false
	}
}

proctype work_item()
{
	byte work, old, next, all, steps;

end:	do
	:: atomic { queued -> queued = false; become_owner() };
		take_work();
		work = work | MORE;
		run_owner()
	od
}

init
{
	byte i;

	atomic {
		run work_item();
		do
		:: i < RXS -> run softirq(); i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < BELLS -> run doorbell(); i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < CTLS -> run process(); i++
		:: else -> break
		od
	}
	timeout;
	assert(LOST || word == 0 && packets == 0 && requests == 0);
}
