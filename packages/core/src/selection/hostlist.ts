import { expandHostlist as expand, HostlistError, splitHostlist as split } from '@muster/slurm'
import { InvalidInput } from '../kernel/errors.ts'

export { foldHostlist, HOSTLIST_MAX } from '@muster/slurm'

/** `expandHostlist` for input of users. @throws InvalidInput when it is malformed or names too many hosts */
export const expandHostlist = (text: string, options?: { max?: number }): string[] => asInput(() => expand(text, options))

/** `splitHostlist` for input of users. @throws InvalidInput when brackets are unbalanced */
export const splitHostlist = (text: string): string[] => asInput(() => split(text))

function asInput<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof HostlistError) throw new InvalidInput([{ path: '', message: error.message }])
    throw error
  }
}
