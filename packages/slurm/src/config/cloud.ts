import { readEntries, readHostlist, readSetting } from './model.ts'
import type { ParsedConfig } from './parse.ts'

/** From here on, slurmctld lists CLOUD nodes that are powered down without PrivateData=cloud. */
const LISTED_SINCE = 23.02

/** Names of nodes with State=CLOUD, in the order of the file: slurmctld starts them only with ResumeProgram. */
export const cloudNodeNames = (config: ParsedConfig): string[] =>
  readEntries(config, 'NodeName').flatMap(({ name, values }) =>
    /^cloud\b/i.test(values.get('state') ?? '') ? (readHostlist(name) ?? []) : [],
  )

/**
 * The PrivateData that lists CLOUD nodes that are powered down; null when nothing has to change.
 * @param release such as 22.05
 */
export function listedCloudData(config: ParsedConfig, release: number): string | null {
  const words = (readSetting(config, 'PrivateData') ?? '').split(',').flatMap((word) => word.trim() || [])
  // NONE is the default, and excludes others.
  const kept = words.filter((word) => word.toLowerCase() !== 'none')
  const isListed = release >= LISTED_SINCE || words.some((word) => word.toLowerCase() === 'cloud')
  return isListed ? null : [...kept, 'cloud'].join(',')
}
