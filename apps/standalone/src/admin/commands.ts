import path from 'node:path'
import { backup, restore } from './backup.ts'
import { type AdminCommand, UsageError } from './command.ts'
import { runProgram } from './run-program.ts'

/** The commands of bin/muster-admin. A command that needs the domain runs a program of the API: this package imports no domain. */
export const commands: Record<string, AdminCommand> = {
  backup,
  restore,
  'change-master-password': {
    arguments: 'FILE',
    summary: 'change the master password of the credentials',
    help: 'FILE contains the new master password; /dev/stdin reads it from a pipe. Afterwards replace the old password, and restart all API and worker processes.',
    run: ([file, ...rest], settings) => {
      if (!file || rest.length) throw new UsageError('Name one file with the new master password.')
      return runProgram('apps/api/src/change-master-password.ts', [], settings, {
        NEW_CREDENTIAL_MASTER_PASSWORD_FILE: path.resolve(file),
      })
    },
  },
}
