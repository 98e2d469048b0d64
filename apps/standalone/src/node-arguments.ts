import type { ChildProcess, StdioOptions } from 'node:child_process'
import path from 'node:path'
import type { Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'

const preload = pathToFileURL(path.join(import.meta.dirname, 'die-with-parent.ts')).href

/** Where a program that is given a secret reads it to the end: over a pipe, it stands in no argument, environment or file. */
export const SECRET_FD = 4

/** stdio for a Node with an `ipc` channel, and a pipe at SECRET_FD when there is a secret to hand over. */
export const stdioOf = (secret: string | undefined): StdioOptions => [
  'ignore',
  'pipe',
  'pipe',
  'ipc',
  ...(secret === undefined ? [] : ['pipe' as const]),
]

/** Write the secret, if any, to such a child. One that does not read it is its own affair. */
export function handOver(child: ChildProcess, secret: string | undefined): void {
  const pipe = child.stdio[SECRET_FD] as Writable | undefined
  pipe?.on('error', () => {}).end(secret)
}

/** Arguments for a Node that ends when the process that started it with an `ipc` channel has ended. */
export function nodeArguments(argv: string[]): string[] {
  return ['--import', preload, ...argv]
}
