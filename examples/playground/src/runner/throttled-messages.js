// Posts messages from a worker to the page, at a rate that the page can process.
//
// Messages are posted immediately, because messages that wait in a worker are lost when it is terminated. A script that only prints or
// writes could post faster than the page reads and freeze the page. Such a script is paused here instead.

/** The cost of messages that can be posted at once. A slow machine reads a message in 20 µs, so this takes it 100 ms. */
const MAX_BURST = 5_000;
/** The cost of messages per second after that. A log line costs 1. */
const RATE = 20_000;
/** The base cost of a file change, and the number of bytes that cost 1 more. */
const CHANGE_COST = 3;
const BYTES_PER_COST = 16 * 1024;
const PAUSE_MILLISECONDS = 5;

export class ThrottledMessages {
  #send;
  #available = MAX_BURST;
  #time = performance.now();

  constructor(send) {
    this.#send = send;
  }

  post(message) {
    const cost = message.change === undefined ? 1 : CHANGE_COST + (message.change.bytes?.length ?? 0) / BYTES_PER_COST;
    this.#refill();
    while (this.#available < Math.min(cost, MAX_BURST)) {
      pause();
      this.#refill();
    }
    this.#available -= cost;
    // `timeOrigin` makes the time comparable between the page and its workers.
    this.#send({ ...message, time: performance.timeOrigin + this.#time });
  }

  #refill() {
    const now = performance.now();
    this.#available = Math.min(MAX_BURST, this.#available + ((now - this.#time) / 1000) * RATE);
    this.#time = now;
  }
}

let sleepCell;
try {
  // `Atomics.wait` is the only way to sleep in a worker. A shared WebAssembly memory is available where `SharedArrayBuffer` is not.
  sleepCell = new Int32Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer);
} catch {
  // Some browsers allow shared memory only on isolated pages. There, `post` busy-waits.
}

function pause() {
  if (sleepCell !== undefined) Atomics.wait(sleepCell, 0, 0, PAUSE_MILLISECONDS);
}
