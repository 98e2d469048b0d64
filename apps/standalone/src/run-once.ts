import { spawn } from 'node:child_process'
import { handOver, nodeArguments, stdioOf } from './node-arguments.ts'
import { root } from './root.ts'

/**
 * Run a Node program of the repository to its end and return its stdout. It ends with us, and when `signal` aborts.
 * Throws with the end of its stderr, else of its stdout, when it fails.
 */
export async function runOnce(
  script: string,
  env: NodeJS.ProcessEnv,
  { signal, secret }: { signal?: AbortSignal; secret?: string } = {},
): Promise<string> {
  const child = spawn(process.execPath, nodeArguments([script]), {
    cwd: root,
    env,
    stdio: stdioOf(secret),
    signal,
  })
  handOver(child, secret)
  let [out, err] = ['', '']
  child.stdout!.on('data', (chunk) => (out += chunk))
  child.stderr!.on('data', (chunk) => (err = (err + chunk).slice(-4000)))
  const code = await new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode, by) => resolve(exitCode ?? by))
  })
  if (code === 0) return out
  throw new Error(
    (err.trim() || out.trim().slice(-2000) || `${script} ended with ${code} and said nothing.`).split('\n').slice(-15).join('\n'),
  )
}
