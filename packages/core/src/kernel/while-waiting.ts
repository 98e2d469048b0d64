import { setImmediate } from 'node:timers/promises'

/**
 * Starts `statement`, calls `work`, which takes a while, after the statement was sent, and waits for both.
 * @returns the results of both
 */
export const whileWaiting = <A, B>(statement: PromiseLike<A>, work: () => B): Promise<[A, B]> =>
  // A lazy statement is sent by `then`, which `Promise.all` calls.
  Promise.all([statement, setImmediate().then(work)])
