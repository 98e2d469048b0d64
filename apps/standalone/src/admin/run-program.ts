import { spawn } from 'node:child_process'
import { nodeArguments, SECRET_FD, writeSecret } from '../node-child.ts'
import { productEnvironment } from '../product-environment.ts'
import { root } from '../root.ts'
import type { Settings } from '../settings.ts'
import { withInstallation } from './installation.ts'

/**
 * Runs a program of the repository with this terminal and the environment of the installation.
 * @param more additional environment variables
 * @returns the exit code
 */
export function runProgram(script: string, args: string[], settings: Settings, more: NodeJS.ProcessEnv = {}): Promise<number> {
  return withInstallation(settings, async ({ databaseUrl }) => {
    const secret = settings.masterPassword
    const env: NodeJS.ProcessEnv = {
      ...productEnvironment(settings, settings.publicUrl ?? `http://localhost:${settings.port}`),
      DATABASE_URL: databaseUrl,
      ...(secret === undefined ? {} : { CREDENTIAL_MASTER_PASSWORD_FD: String(SECRET_FD) }),
      ...more,
    }
    delete env.CREDENTIAL_MASTER_PASSWORD
    const child = spawn(process.execPath, nodeArguments([script, ...args]), {
      cwd: root,
      env,
      stdio: ['inherit', 'inherit', 'inherit', 'ipc', ...(secret === undefined ? [] : ['pipe' as const])],
    })
    writeSecret(child, secret)
    return await new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code) => resolve(code ?? 1))
    })
  })
}
