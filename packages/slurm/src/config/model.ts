import { expandHostlist, HostlistError } from '../hostlist.ts'
import { type ConfigLine, type ParsedConfig, startsWithKey } from './parse.ts'

/** Effective values of one line, by key in lower case, with those of DEFAULT lines before it. */
export interface ConfigEntry {
  line: ConfigLine
  /** Value of the first key. */
  name: string
  values: Map<string, string>
}

/** Lines that start with `key`, without DEFAULT lines, which set what later lines inherit. */
export function readEntries({ lines }: ParsedConfig, key: string): ConfigEntry[] {
  let defaults = new Map<string, string>()
  const entries: ConfigEntry[] = []
  for (const line of lines) {
    if (!startsWithKey(line, key)) continue
    const name = line.fields[0]!.value
    const values = new Map([...defaults, ...line.fields.slice(1).map(({ key, value }) => [key.toLowerCase(), value] as const)])
    if (name.toLowerCase() === 'default') defaults = values
    else entries.push({ line, name, values })
  }
  return entries
}

/** The value of a key that may appear once; the last line counts. */
export function readSetting({ lines }: ParsedConfig, key: string): string | null {
  return lines.findLast((line) => startsWithKey(line, key))?.fields[0]?.value ?? null
}

/** The names of a hostlist; null when it is malformed. Slurm separates names by white space, too. */
export function readHostlist(text: string | undefined): string[] | null {
  try {
    return expandHostlist((text ?? '').replaceAll(/[ \t]+/g, ','))
  } catch (error) {
    if (error instanceof HostlistError) return null
    throw error
  }
}

/** Keys with an older name. */
export const ALIASES: Readonly<Record<string, string>> = { Features: 'Feature', CPUs: 'Procs', OverSubscribe: 'Shared' }

/** Names of all nodes in the order of the file. */
export const nodeNames = (config: ParsedConfig): string[] =>
  readEntries(config, 'NodeName').flatMap(({ name }) => readHostlist(name) ?? [])

/** Controllers in the order of the file, the primary first; the address is the name where the file has none. */
export const controllerNames = ({ lines }: ParsedConfig): { name: string; address: string }[] =>
  lines.flatMap((line) => {
    const value = startsWithKey(line, 'SlurmctldHost') ? line.fields[0]!.value : ''
    const [, name, address] = /^([^(\s]+)(?:\(([^)]+)\))?$/.exec(value) ?? []
    return name ? [{ name, address: address ?? name }] : []
  })

/** What DEFAULT lines set for lines that come last. */
export function readDefaults({ lines }: ParsedConfig, key: string): Set<string> {
  const defaults = lines.filter((line) => startsWithKey(line, key) && line.fields[0]!.value.toLowerCase() === 'default')
  return new Set(defaults.flatMap((line) => line.fields.slice(1).map((field) => field.key.toLowerCase())))
}
