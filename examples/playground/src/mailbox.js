// What a worker tells the page, at a pace that the page can follow.
//
// Each message is posted at once: what waits in a worker is lost when the worker is terminated. A script that does nothing but
// print or write could post faster than the page reads, so that the page would stand still. Such a script waits here instead.

/** Messages that may be on their way. A slow machine takes 20 µs to read one, so that these are 100 ms of its time. */
const MOST = 5_000;
/** Messages a second after that. */
const RATE = 20_000;
/** A change of a file costs more than a line of the log, and by its bytes. */
const CHANGE = 3;
const BYTES = 16 * 1024;

export class Mailbox {
  #send;
  #left = MOST;
  #time = performance.now();

  constructor(send) {
    this.#send = send;
  }

  post(message) {
    const cost = message.change === undefined ? 1 : CHANGE + (message.change.bytes?.length ?? 0) / BYTES;
    this.#refill();
    while (this.#left < Math.min(cost, MOST)) {
      pause();
      this.#refill();
    }
    this.#left -= cost;
    // By the clock that pages and workers share.
    this.#send({ ...message, time: performance.timeOrigin + this.#time });
  }

  #refill() {
    const now = performance.now();
    this.#left = Math.min(MOST, this.#left + ((now - this.#time) / 1000) * RATE);
    this.#time = now;
  }
}

let bell;
try {
  // The one way to sleep in a worker; nobody rings this bell. Memory of this kind can be had where `SharedArrayBuffer` can't.
  bell = new Int32Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer);
} catch {
  // A browser may keep it for pages that a server has isolated. There the worker counts the time away.
}

function pause() {
  if (bell !== undefined) Atomics.wait(bell, 0, 0, 5);
}
