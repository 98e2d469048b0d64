import type { Frame } from './frames.ts'
import { linesOf, plain } from './text.ts'

/** Files by path (their lines joined), links by path, and the other frames by name. */
export interface Evidence {
  files: Map<string, string>
  links: Map<string, string>
  frame: (name: string) => string
}

/** Reads the `path:line` of grep and the `path -> target` of ls. */
export function evidence(frames: Frame[]): Evidence {
  const frame = (name: string) => plain(frames.find((one) => one.name === name)?.body ?? '')
  const files = new Map<string, string[]>()
  for (const line of linesOf(frame('files'))) {
    // A PCI address in the path holds `:` too; no other part of a path does.
    const [, path, text] = /^(\/[^:]*?(?:[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7][^:]*)?):(.*)$/i.exec(line) ?? []
    if (path !== undefined && text !== undefined) files.set(path, [...(files.get(path) ?? []), text])
  }
  const links = new Map<string, string>()
  for (const line of linesOf(frame('links'))) {
    const [, path, target = ''] = / (\/\S+)(?: -> (\S+))?\s*$/.exec(line) ?? []
    if (path) links.set(path, target)
  }
  return { files: new Map([...files].map(([path, lines]) => [path, lines.join('\n')])), links, frame }
}

/** The link whose path ends so, whatever the root before it. */
export const link = (links: Map<string, string>, end: string) => [...links].find(([path]) => path.endsWith(end))?.[1]

/** `KEY=value` lines with shell quotes, as in os-release and version.info. */
export function pairs(text: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [, key = '', value = ''] of text.matchAll(/^[ \t]*([A-Za-z_]\w*)=(.*)$/gm))
    found[key] = value.trim().replace(/^(['"])(.*)\1$/, '$2')
  return found
}

/** The parts of the frame `tool system`, each begun by `@name`. */
export function sections(body: string): Record<string, string> {
  const found: Record<string, string> = {}
  let name = ''
  for (const line of linesOf(body)) {
    const mark = /^@([a-z]+)$/.exec(line)
    if (mark) name = mark[1] ?? ''
    else if (name) found[name] = `${found[name] ?? ''}${line}\n`
  }
  return found
}
