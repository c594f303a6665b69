interface Event {
  readonly us: number;
  readonly order: number;
  readonly run: () => void;
}

/** Time in whole microseconds that leaps from event to event. After each one all promises settle that can. */
export class VirtualTime {
  us = 0;
  #order = 0;
  /** A heap: the next event first. */
  readonly #events: Event[] = [];

  /** Calls back then, or as soon as possible; events of one time in the order in which they were asked for. */
  at(us: number, run: () => void): void {
    const event = { us: Math.max(us, this.us), order: this.#order++, run };
    const events = this.#events;
    let place = events.push(event) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (isBefore(events[parent] as Event, event)) break;
      events[place] = events[parent] as Event;
      place = parent;
    }
    events[place] = event;
  }

  /** Until nothing is left to happen, or only what comes later than that. */
  async run(lastUs: number): Promise<void> {
    for (let event = this.#take(); event !== undefined; event = this.#take()) {
      if (this.us > lastUs) return;
      this.us = event.us;
      event.run();
      await settled();
    }
  }

  #take(): Event | undefined {
    const events = this.#events;
    const [first] = events;
    const last = events.pop();
    if (last === undefined || last === first) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      const right = events[child + 1];
      if (right !== undefined && isBefore(right, events[child] as Event)) child++;
      const next = events[child];
      if (next === undefined || isBefore(last, next)) break;
      events[place] = next;
      place = child;
    }
    events[place] = last;
    return first;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.us < b.us || (a.us === b.us && a.order < b.order);
}

/** Ticks and promises run before an immediate, and immediates in their order. */
function settled(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}
