import path from 'node:path'
import { pathToFileURL } from 'node:url'

const preload = pathToFileURL(path.join(import.meta.dirname, 'die-with-parent.ts')).href

/** Arguments for a Node that ends when the process that started it with an `ipc` channel has ended. */
export function nodeArguments(argv: string[]): string[] {
  return ['--import', preload, ...argv]
}
