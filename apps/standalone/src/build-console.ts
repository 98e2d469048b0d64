import { spawn } from 'node:child_process'
import path from 'node:path'
import { root } from './root.ts'

/**
 * Builds the console for production; turbo skips the build when its inputs are unchanged.
 * Throws with the last lines of the build's output. `signal` aborts the build.
 */
export async function buildConsole(signal?: AbortSignal): Promise<void> {
  const args = ['run', 'build', '--filter=@muster/console', '--output-logs=errors-only', '--no-update-notifier']
  const child = spawn(path.join(root, 'node_modules/.bin/turbo'), args, {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production', CI: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output = (output + chunk).slice(-4000)))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) throw new Error(`The console build failed. Last lines of its output:\n${output.trim()}`)
}
