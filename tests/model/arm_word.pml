/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Model of the arm word and the consumer index: rxe_ordered/cq.c and
 * providers/rxe_ordered/rxo_ring.h. Each load, swap and copied entry is one step,
 * together with all that the code computes from it before the next one.
 * What it has to show are the invariants I1 to I6 of verb_invariants.c. Memory is
 * sequentially consistent here; the barriers are the business of ring_twins_stress.
 *
 * A run is chosen by -D (see run):
 *
 *  USE	 0 owners: the consumer loop of the contract and nothing else
 *	 1 verbs: the same, but some calls are made without an event
 *	 2 mixed: every entry point, in any order
 *  CONS	consumers; the first is the creator and owns the CQ at first
 *  KERN	bit mask of the consumers that use the kernel's twin
 *  ADDS	completions; GROUP: the most that one publish adds
 *  NUM		num_entries of the verb and of poll
 *  SOLS	1: completions and arms may be solicited or not
 *  FAIL	1: a call of the kernel's twin may fail (fault, signal)
 *  LOSE	1: the device does not wait for room, so the CQ may overrun
 *  TRIES	failed swaps of a producer before it exchanges
 *  EXTRA	calls of other entry points than poll_rearm, in all
 *  CALLS	calls without an event, in all
 *  TWICE	1: the verb looks at the consumer index again before it disarms
 *  EARLY	1: an arm must not be taken from an empty CQ
 *  BUG		0, or the number of a mistake that a property has to find
 */
#ifndef USE
#define USE	0
#endif
#ifndef CONS
#define CONS	2
#endif
#ifndef KERN
#define KERN	2
#endif
#ifndef ADDS
#define ADDS	3
#endif
#ifndef GROUP
#define GROUP	1
#endif
#ifndef NUM
#define NUM	1
#endif
#ifndef SOLS
#define SOLS	0
#endif
#ifndef FAIL
#define FAIL	0
#endif
#ifndef LOSE
#define LOSE	0
#endif
#ifndef TRIES
#define TRIES	8
#endif
#ifndef EXTRA
#define EXTRA	1
#endif
#ifndef CALLS
#define CALLS	1
#endif
#ifndef TWICE
#define TWICE	0
#endif
#ifndef EARLY
#define EARLY	0
#endif
#ifndef BUG
#define BUG	0
#endif

#define ARM_BY_EXCHANGE		1	/* of the whole word */
#define ARM_BY_OR		2	/* whatever the index is by now */
#define PUBLISH_IN_TWO_STEPS	3	/* the index, then the arm */
#define PUBLISH_BY_EXCHANGE	4	/* an arm that does not match is lost */
#define PUBLISH_KEEPS_ARM	5
#define LATE_DISARM		6	/* after consuming, one try */
#define NO_DISARM		7
#define ARM_WEAKENS		8
#define FORGET_REMOVED		9
#define NO_GIVE_BACK		10
#define GIVE_BACK_SILENTLY	11	/* arms where it should fire */
#define SILENT_EXCHANGE		12	/* of a producer that has lost too often */
#define COPY_LATE		13	/* after consuming */
#define WORD_FIRST		14	/* then the consumer index */
#define NO_SECOND_LOOK		15	/* rearm_if_empty */
#define NOTIFY_IF_EMPTY		16	/* the standard arm, made conditional */
#define SILENT_OVERRUN		17

/* ------------------------------------------------------------ shared memory */

#define RING	2
#define MOD	8	/* indices wrap here; more than ADDS, as 2^32 is */
#define START	7	/* so they do, after the first */

#define NONE	0
#define SOL	1
#define ANY	2

#define MAKE(p, a, o)	((p) | ((a) << 3) | ((o) << 5))
#define PROD(w)		((w) & 7)
#define ARM(w)		(((w) >> 3) & 3)
#define OVR(w)		((w) >> 5)
#define WITH(w, a)	(((w) & 39) | ((a) << 3))
#define MAX(a, b)	((a) > (b) -> (a) : (b))
#define MIN(a, b)	((a) < (b) -> (a) : (b))
#define USED(p, c)	(((p) + MOD - (c)) % MOD)

byte word = START;	/* one variable: one step touches all of it */
byte cons = START;
byte slot[RING];	/* number of the completion */

/* ------------------------------------------------------------- bookkeeping */

/*
 * None of this is seen by the algorithm. The names that begin with an I are
 * always false: they are in the assertions to name the invariant.
 */
bit I1, I2, I3, I4, I5, I6, ONCE, REMOVAL;

byte events;		/* raised and not taken */
byte awake = 1; 	/* consumers that do not sleep */
bit owned = 1;		/* I4: from an event to the next 0 */
bit busy;		/* I5: a completion is being processed */
byte next;		/* the completion that is to be consumed next */
byte added;		/* completions that have been published */
byte issol;		/* bit mask by number */
byte calls = CALLS;
byte extra = (USE -> EXTRA : 0);

/*
 * I6 and "arming never weakens": the arm that somebody was promised. Raised by
 * every arm; gone with an event, and with the result of a verb that was > 0, of
 * which only what was armed after its instant survives.
 */
byte owed;

/*
 * I1: of each call that runs, has there been an instant since ... at which its
 * result would have been right? Kept up to date in every step that changes the
 * word or the index, so it is about what happened, not about where the code
 * believes its instant to be.
 */
bit at_zero[CONS];	/* ... its beginning: empty, and armed as wanted */
bit at_some[CONS];	/* ... its load of cons: cons as loaded, not empty, not armed */
byte wanted[CONS];
byte loaded[CONS];	/* cons as loaded; MOD: not yet */
byte later[CONS];	/* arms since at_some became true */

inline look_at(i)
{
	if
	:: wanted[i] && cons == PROD(word) && ARM(word) >= wanted[i] ->
		at_zero[i] = 1
	:: else
	fi;
	if
	:: wanted[i] && loaded[i] == cons && cons != PROD(word) &&
	   ARM(word) == NONE ->
		at_some[i] = 1; later[i] = NONE
	:: else
	fi
}

/* After every change, in the same step. */
inline changed()
{
	look_at(0);
	look_at(1);
#if CONS > 2
	look_at(2);
#endif
}

inline armed(a)
{
	owed = MAX(owed, a);
	/* In verb-only use nobody arms what is not empty. */
#if USE == 2
	later[0] = MAX(later[0], a);
	later[1] = MAX(later[1], a);
#if CONS > 2
	later[2] = MAX(later[2], a);
#endif
#endif
}

inline raise()
{
	assert(I4 || USE == 2 || FAIL || !owned);
	owned = 1;
	owed = NONE;
	events++
}

#define PENDING_SOL	(issol & ((1 << added) - (1 << next)))
/*
 * I6: everybody sleeps, nothing is on its way to wake anybody, and something
 * lies there that should have; or an arm that was promised is gone. After an
 * overrun nothing will be added.
 */
#define ASLEEP		(awake == 0 && events == 0)
#define LOST_WAKE_UP	(ASLEEP && added != next && \
			 (owed == ANY || PENDING_SOL || !ARM(word) || OVR(word)))
#define LOST_ARM	(ASLEEP && !OVR(word) && (ARM(word) < owed || !ARM(word)))

active proctype watch()
{
end:	do
	:: atomic { LOST_WAKE_UP -> assert(I6) }
	:: atomic { LOST_ARM -> assert(I6) }
	od
}

/* ---------------------------------------------------------------- the device */

mtype = { ROOM, STORE, LOAD, PUBLISH, LATE_FIRE };

#define FIRES(a)	((a) == ANY || ((a) == SOL && (sol || (ovr && BUG != SILENT_OVERRUN))))

/* The outcome of rxo_cq_store_locked(): @m completions find room. */
inline begin(m, s)
{
	n = m; i = 0; sol = s;
	if
	:: n && sol -> issol = issol | (1 << (seq + n - 1))
	:: else
	fi;
	step = (n -> STORE : LOAD)
}

inline stored()
{
	slot[((prod + i) % MOD) % RING] = seq + i;
	i++;
	if
	:: i == n -> step = LOAD
	:: else
	fi
}

/* The successful swap. @keep: what an arm that does not fire becomes. */
inline publish(keep)
{
	added = seq;
	if
	:: FIRES(ARM(word)) ->
		word = MAKE(prod, (BUG == PUBLISH_KEEPS_ARM -> ARM(word) : NONE), ovr);
		assert(I2 || ARM(word) == NONE || BUG);
		raise()
	:: else -> word = MAKE(prod, keep, ovr)
	fi;
	changed();
	w = 0;
	step = ROOM
}

/* rxo_cq_publish(), and in front of it whoever decides what to add. */
active proctype device()
{
	mtype step = ROOM;
	byte w, n, i, tries, prod = START, seq;
	bit sol, ovr;

	/*
	 * It may wait for room for good, if all sleep until a solicited one
	 * comes. One load of cons decides on the room.
	 */
end:	do
	:: d_step { step == ROOM && seq < ADDS && USED(prod, cons) < RING && !ovr ->
		begin(1, 1) }
	:: d_step { step == ROOM && seq < ADDS && USED(prod, cons) < RING && !ovr && SOLS ->
		begin(1, 0) }
	:: d_step { step == ROOM && seq + 1 < ADDS && GROUP > 1 && prod == cons && !ovr ->
		begin(2, 1) }
	:: d_step { step == ROOM && seq < ADDS && USED(prod, cons) == RING && LOSE && !ovr ->
		ovr = 1; begin(0, !SOLS) }
	:: d_step { step == STORE -> stored() }
	:: d_step { step == LOAD ->
		w = word;
		seq = seq + n;
		prod = (prod + n) % MOD;
		tries = 0;
		step = PUBLISH }
#if BUG == PUBLISH_IN_TWO_STEPS
	:: d_step { step == PUBLISH ->
		word = MAKE(prod, ARM(word), ovr); added = seq; changed(); step = LATE_FIRE }
	:: d_step { step == LATE_FIRE ->
		if
		:: FIRES(ARM(word)) -> word = WITH(word, NONE); raise(); changed()
		:: else
		fi;
		step = ROOM }
#elif BUG == PUBLISH_BY_EXCHANGE
	:: d_step { step == PUBLISH -> publish(NONE) }
#else
	:: d_step { step == PUBLISH && tries < TRIES ->
		if
		:: word == w -> publish(ARM(w))
		:: else -> w = word; tries++
		fi }
	:: d_step { step == PUBLISH && tries == TRIES ->
		/*
		 * The verb without faults never gets here: at one producer index
		 * the word changes a few times at most. Others may get an event
		 * too many.
		 */
		assert(I2 || USE == 2 || FAIL);
		added = seq;
		word = MAKE(prod, NONE, ovr);
		if
		:: BUG != SILENT_EXCHANGE -> raise()
		:: else
		fi;
		changed();
		step = ROOM }
#endif
	od
}

/* ------------------------------------------------------------- the consumers */

mtype = { POLL, VERB, IF_EMPTY, NOTIFY };
/* What comes next. */
mtype = { SLEEP, CHOOSE, REST, HOLD,
	  CONS_, WORD_, RECHECK, COPY, DISARM, SWAP, BEFORE, CONS_AGAIN, ARM_, UNDO };

#define IS_VERB(op)	((op) == VERB || (op) == IF_EMPTY)

inline forget()
{
	taken = 0; taken_prod = 0; a = 0; mine = 0; w = 0; c = 0; k = 0; j = 0; again = 0;
	got[0] = 0; got[NUM - 1] = 0;
	wanted[me] = NONE; loaded[me] = MOD;
	at_zero[me] = 0; at_some[me] = 0; later[me] = NONE
}

inline sleep()
{
	must = 0; may = 0; first = 0; op = 0; want = 0;
	awake--;
	pc = SLEEP
}

inline call(o, arm)
{
	op = o; want = arm;
	extra = extra - (o != VERB);
	pc = (BUG == WORD_FIRST -> WORD_ : CONS_);
	if
	:: IS_VERB(o) -> wanted[me] = arm; look_at(me)
	:: o == NOTIFY -> pc = UNDO; a = arm
	:: else
	fi
}

inline retry()
{
	again = 1; w = 0; c = 0; k = 0; j = 0; got[0] = 0; got[NUM - 1] = 0;
	at_some[me] = 0; later[me] = NONE; loaded[me] = MOD;
	pc = (BUG == WORD_FIRST -> WORD_ : CONS_)
}

/* The call has failed. An arm that it took goes back first. */
inline fail()
{
	if
	:: taken && BUG != NO_GIVE_BACK ->
		a = taken; k = taken_prod; w = 0; j = 0;
		pc = UNDO
	:: else -> failed()
	fi
}

/* -EIO: nothing more will come. Whoever must go on does so after a fault. */
inline failed()
{
	forget();
	if
	:: OVR(word) && cons == PROD(word) -> sleep()
	:: !(OVR(word) && cons == PROD(word)) && must -> pc = CHOOSE
	:: else -> pc = REST
	fi
}

inline nothing()
{
	forget();
	if
	:: IS_VERB(op) ->
		assert(I3 || USE || !first);
		sleep()
	:: op == POLL && (may || !must) -> pc = REST
	:: else -> pc = CHOOSE
	fi
}

inline something()
{
	forget();
	if
	:: IS_VERB(op) -> must = 1; may = 0; first = 0
	:: else
	fi;
	pc = CHOOSE;
	if
	:: USE == 0 ->
		assert(I5 || !busy);
		assert(I1 || BUG || ARM(word) == NONE);
		busy = 1;
		mine = next;
		pc = HOLD
	:: else
	fi
}

/* The word is loaded, and c: the decision of rxo_cq_try() and of its twin. */
inline decide()
{
	k = USED(PROD(w), c);
	if
	:: k > RING -> pc = RECHECK
	:: k > 0 && k <= RING ->
		k = MIN(k, NUM); j = 0; pc = COPY;
		if
		:: BUG == COPY_LATE -> pc = SWAP
		:: op == IF_EMPTY && !kern -> has_copied()
		:: else
		fi
	:: k == 0 && op == POLL && !OVR(w) -> nothing()
	:: k == 0 && op == POLL && OVR(w) -> fail()
	:: k == 0 && IS_VERB(op) && OVR(w) -> fail()
	:: k == 0 && IS_VERB(op) && !OVR(w) ->
		a = MAX(want, taken);
		if
		:: BUG != ARM_WEAKENS -> a = MAX(a, ARM(w))
		:: else
		fi;
		pc = ARM_;
		/* The provider does not swap for nothing: the load was it. */
		if
		:: !kern && ARM(w) >= a ->
			assert(I1 || at_zero[me]);
			nothing()
		:: else
		fi
	fi
}

inline has_copied()
{
	pc = (IS_VERB(op) && ARM(w) && BUG != NO_DISARM && BUG != LATE_DISARM ->
	      (TWICE -> BEFORE : DISARM) : (op == IF_EMPTY -> CONS_AGAIN : SWAP))
}

inline copied()
{
	got[j] = slot[((c + j) % MOD) % RING];
	j++;
	if
	:: j == k && BUG == COPY_LATE -> assert(ONCE || got[0] == mine); something()
	:: j == k && BUG != COPY_LATE -> has_copied()
	:: else
	fi
}

inline disarm()
{
	if
	:: word != w && BUG != LATE_DISARM -> retry()
	:: word == w && BUG != LATE_DISARM ->
		if
		:: !taken -> taken_prod = PROD(w)
		:: else
		fi;
		assert(REMOVAL || !EARLY || cons != PROD(word));
		taken = (BUG == FORGET_REMOVED -> NONE : MAX(taken, ARM(w)));
		word = WITH(w, NONE);
		changed();
		pc = (op == IF_EMPTY -> CONS_AGAIN : SWAP)
	:: BUG == LATE_DISARM ->
		if
		:: word == w -> word = WITH(w, NONE); changed()
		:: else
		fi;
		assert(I1 || !ARM(word) || USE == 2);
		something()
	fi
}

/* The swap of the consumer index. */
inline consume()
{
	if
	:: cons != c -> retry()
	:: else ->
		cons = (c + k) % MOD;
		mine = next;
		j = 0;
		do
		:: j < k -> assert(ONCE || BUG == COPY_LATE || got[j] == next); next++; j++
		:: else -> break
		od;
		if
		:: IS_VERB(op) ->
			assert(I1 || BUG == LATE_DISARM || at_some[me]);
			owed = later[me]
		:: else
		fi;
		loaded[me] = MOD;
		changed();
		if
		:: BUG == COPY_LATE -> j = 0; pc = COPY
		:: BUG == LATE_DISARM && IS_VERB(op) && ARM(w) -> pc = DISARM
		:: else -> something()
		fi
	fi
}

inline still_there()
{
	if
	:: cons != c && BUG != NO_SECOND_LOOK -> retry()
	:: else ->
		assert(I1 || at_some[me]);
		owed = later[me];
		something()
	fi
}

/* The empty half: the swap is the instant. */
inline arm_if_unchanged()
{
	if
	:: BUG == ARM_BY_EXCHANGE || BUG == ARM_BY_OR || word == w ->
		word = WITH((BUG == ARM_BY_OR -> word : w), a);
		changed();
		/* What comes of a mistake is what is to be found, not the mistake. */
		assert(I1 || BUG || at_zero[me]);
		owned = 0;
		armed(a);
		nothing()
	:: else -> retry()
	fi
}

/*
 * The loops around one swap that raise the arm to a: the standard arm, and an
 * arm put back (rxo_cq_strengthen(), rxo_cq_give_back()). j: 0 load the word,
 * 1 swap it, 2 fire.
 */
inline raise_arm()
{
	if
	:: op == NOTIFY && BUG == NOTIFY_IF_EMPTY && cons != PROD(word) -> raised()
	:: j == 2 -> raise(); raised()
	:: j == 1 && word == w ->
		word = WITH(w, MAX(ARM(w), a));
		changed();
		if
		:: op == NOTIFY -> armed(a)
		:: else
		fi;
		raised()
	:: else ->
		w = word;
		/* The provider does not swap for nothing, and loads again. */
		if
		:: !kern && ARM(w) >= a ->
			if
			:: op == NOTIFY -> armed(a)
			:: else
			fi;
			raised()
		:: kern && op != NOTIFY && PROD(w) != k && BUG != GIVE_BACK_SILENTLY -> j = 2
		:: else -> j = (j == 1 && !kern -> 0 : 1)
		fi
	fi
}

inline raised()
{
	if
	:: op == NOTIFY -> may = 1; forget(); pc = CHOOSE
	:: else -> failed()
	fi
}

active [CONS] proctype consumer()
{
	byte me = _pid - 2;	/* the watch and the device come before */
	bit kern = (KERN >> me) & 1;
	mtype pc = SLEEP, op;
	byte want, taken, taken_prod, a, mine;
	byte w, c, k, j;
	byte got[NUM];
	bit again;
	bit must;	/* nobody else will: had an event, or took an arm away */
	bit first;	/* call after an event */
	bit may;	/* has armed and not disarmed: sleeps when poll finds nothing */

	d_step {
		forget();
		if
		:: me == 0 -> must = 1; pc = CHOOSE
		:: else
		fi
	}
end:	do
	:: d_step { pc == SLEEP && events > 0 ->
		events--; awake++; must = 1; first = 1; pc = CHOOSE }
	:: d_step { pc == SLEEP && USE && calls > 0 ->
		calls--; awake++; pc = CHOOSE }
	:: d_step { pc == CHOOSE -> call(VERB, ANY) }
	:: d_step { pc == CHOOSE && SOLS -> call(VERB, SOL) }
	:: d_step { pc == CHOOSE && extra -> call(IF_EMPTY, ANY) }
	:: d_step { pc == CHOOSE && extra && SOLS -> call(IF_EMPTY, SOL) }
	:: d_step { pc == CHOOSE && extra && USE == 2 -> call(POLL, NONE) }
	:: d_step { pc == CHOOSE && extra && USE == 2 -> call(NOTIFY, ANY) }
	:: d_step { pc == CHOOSE && extra && USE == 2 && SOLS -> call(NOTIFY, SOL) }
	:: d_step { pc == REST -> sleep() }
	:: d_step { pc == REST -> pc = CHOOSE }
	:: d_step { pc == HOLD ->
		assert(I1 || ARM(word) == NONE);
		assert(I5 || mine == next);
		busy = 0; mine = 0; pc = CHOOSE }

	:: d_step { pc == CONS_ ->
		c = cons; loaded[me] = c; at_some[me] = 0; look_at(me);
		pc = WORD_;
		if
		:: BUG == WORD_FIRST -> decide()
		:: else
		fi }
	:: d_step { pc == WORD_ ->
		w = word;
		if
		:: BUG == WORD_FIRST -> pc = CONS_
		:: else -> decide()
		fi }
	:: d_step { pc == RECHECK ->
		assert(ONCE || cons != c);	/* taken for damage */
		retry() }
	:: d_step { pc == COPY -> copied() }
	:: d_step { pc == BEFORE ->
		if
		:: cons == c -> pc = DISARM
		:: else -> retry()
		fi }
	:: d_step { pc == DISARM -> disarm() }
	:: d_step { pc == SWAP -> consume() }
	:: d_step { pc == CONS_AGAIN -> still_there() }
	:: d_step { pc == ARM_ -> arm_if_unchanged() }
	:: d_step { pc == UNDO -> raise_arm() }

	/* A fault in the sink, and a fatal signal before another try. */
	:: d_step { FAIL && kern && IS_VERB(op) && (pc == COPY || pc == ARM_) -> fail() }
	:: d_step { FAIL && kern && IS_VERB(op) && pc == CONS_ && again -> fail() }
	od
}
