import type { ChildProcess, StdioOptions } from 'node:child_process'
import path from 'node:path'
import type { Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'

const preload = pathToFileURL(path.join(import.meta.dirname, 'exit-with-parent.ts')).href

/** File descriptor from which a child reads its secret. A pipe keeps it out of arguments, environment and files. */
export const SECRET_FD = 4

/** stdio for a Node child with an `ipc` channel, plus a pipe at SECRET_FD when there is a secret. */
export const stdioFor = (secret: string | undefined): StdioOptions => [
  'ignore',
  'pipe',
  'pipe',
  'ipc',
  ...(secret === undefined ? [] : ['pipe' as const]),
]

/** Writes the secret, if any, to a child. A child that does not read it is not an error. */
export function writeSecret(child: ChildProcess, secret: string | undefined): void {
  const pipe = child.stdio[SECRET_FD] as Writable | undefined
  pipe?.on('error', () => {}).end(secret)
}

/** Arguments for a Node child that exits when its parent, which started it with an `ipc` channel, is gone. */
export function nodeArguments(argv: string[]): string[] {
  return ['--import', preload, ...argv]
}
