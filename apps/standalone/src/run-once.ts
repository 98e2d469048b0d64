import { spawn } from 'node:child_process'
import { nodeArguments, stdioFor, writeSecret } from './node-child.ts'
import { root } from './root.ts'

/**
 * Runs a Node program of the repository to completion and returns its stdout. It is killed when we exit or `signal` aborts.
 * Throws with the last lines of stderr, or of stdout when stderr is empty, on a non-zero exit code.
 */
export async function runOnce(
  script: string,
  env: NodeJS.ProcessEnv,
  { signal, secret }: { signal?: AbortSignal; secret?: string } = {},
): Promise<string> {
  const child = spawn(process.execPath, nodeArguments([script]), {
    cwd: root,
    env,
    stdio: stdioFor(secret),
    signal,
  })
  writeSecret(child, secret)
  let [stdout, stderr] = ['', '']
  child.stdout!.on('data', (chunk) => (stdout += chunk))
  child.stderr!.on('data', (chunk) => (stderr = (stderr + chunk).slice(-4000)))
  const exit = await new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, killedBy) => resolve(code ?? killedBy))
  })
  if (exit === 0) return stdout
  const output = stderr.trim() || stdout.trim().slice(-2000) || `${script} ended with ${exit} and no output.`
  throw new Error(output.split('\n').slice(-15).join('\n'))
}
