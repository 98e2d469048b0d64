import type { Registration } from '../registration.ts'

/** The registration of a worker that is not listed and never drained. */
export const fakeRegistration: Pick<Registration, 'isDraining' | 'whileRunning'> = {
  isDraining: () => false,
  whileRunning: (work) => work(),
}
