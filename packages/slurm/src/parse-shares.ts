import { parseCount, parseWord } from './text.ts'

/** A row of the fair-share tree: an account, or a user in an account. */
export interface SlurmShare {
  account: string
  user: string | null
  /** Depth in the tree; root is 0. */
  depth: number
  rawShares: number | null
  normalizedShares: number | null
  rawUsage: number | null
  effectiveUsage: number | null
  /** 0 to 1; only rows of users have it. */
  fairShare: number | null
}

/**
 * Reads `sshare --all --parsable2 --long`: the first line names the columns, and spaces before an account show its depth.
 * Names of accounts and users cannot contain the separator.
 */
export function parseShares(output: string): SlurmShare[] {
  const [header = '', ...lines] = output.split('\n')
  const columns = header.split('|')
  if (columns[0] !== 'Account') return []
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const fields = line.split('|')
      const get = (name: string) => fields[columns.indexOf(name)]
      const account = fields[0]!
      return {
        account: account.trim(),
        user: parseWord(get('User')),
        depth: account.length - account.trimStart().length,
        rawShares: parseCount(get('RawShares')),
        normalizedShares: parseCount(get('NormShares')),
        rawUsage: parseCount(get('RawUsage')),
        effectiveUsage: parseCount(get('EffectvUsage')),
        fairShare: parseCount(get('FairShare')),
      }
    })
}
