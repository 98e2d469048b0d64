import { diffLines } from 'diff'
import { CONFIG_FILES, type ConfigFileName, type ConfigFiles } from './types.ts'

export type ConfigDiff = { file: ConfigFileName; lines: { kind: ' ' | '+' | '-'; text: string }[] }

/** Lines of both versions, by file. Files without a difference are left out; a missing file is an empty one. */
export function diffConfig(from: Partial<ConfigFiles>, to: Partial<ConfigFiles>): ConfigDiff[] {
  return CONFIG_FILES.filter((file) => from[file] !== to[file]).map((file) => ({
    file,
    lines: diffLines(from[file] ?? '', to[file] ?? '').flatMap(({ value, added, removed }) => {
      const kind = added ? '+' : removed ? '-' : ' '
      return value
        .replace(/\n$/, '')
        .split('\n')
        .map((text) => ({ kind, text }) as const)
    }),
  }))
}
