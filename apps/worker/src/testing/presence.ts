import type { Presence } from '../presence.ts'

/** A worker that is in no list and never drained. */
export const present: Pick<Presence, 'isDraining' | 'whileRunning'> = { isDraining: () => false, whileRunning: (work) => work() }
