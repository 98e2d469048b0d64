import path from 'node:path'
import { backup, restore } from './backup.ts'
import { type AdminCommand, UsageError } from './command.ts'
import { runProgram } from './run-program.ts'

/** The commands of bin/muster-admin. A command that needs the domain runs a program of the API: this package imports no domain. */
export const commands: Record<string, AdminCommand> = {
  doctor: {
    arguments: '',
    summary: 'check the installation, also while it is stopped',
    help: 'Checks configuration, files, TLS, clocks, keys, migrations, disks, workers and queue on this machine, and prints the next step for each problem. Exit code 1 when there is an error. While Muster is stopped, no worker is alive.',
    run: (args, settings) => {
      if (args.length) throw new UsageError('This command takes no arguments.')
      return runProgram('apps/api/src/doctor.ts', [], settings)
    },
  },
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
  appoint: {
    arguments: 'EMAIL',
    summary: 'make a user an installation administrator',
    help: 'Makes the user with the address EMAIL an installation administrator, for example when no administrator can sign in. The user must be a member of a tenant. The audit log of the installation records it.',
    run: ([email, ...rest], settings) => {
      if (!email || rest.length) throw new UsageError('Name one email address.')
      return runProgram('apps/api/src/appoint.ts', [email], settings)
    },
  },
  'change-email': {
    arguments: 'EMAIL NEW_EMAIL',
    summary: 'change the email address of a user',
    help: 'Changes the email address with which a user signs in from EMAIL to NEW_EMAIL, without a confirmation by email. The audit log records it in every tenant of the user.',
    run: (args, settings) => {
      if (args.length !== 2) throw new UsageError('Name the current and the new email address.')
      return runProgram('apps/api/src/change-email.ts', args, settings)
    },
  },
  'reset-owner': {
    arguments: '[EMAIL]',
    summary: 'create a one-time sign-in link for the owner or another user',
    help: 'Removes the password, the passkeys, the second factor and all sessions of the only owner, or of the user with the address EMAIL, and prints a link that signs in once and sets a new password.',
    run: (args, settings) => {
      if (args.length > 1) throw new UsageError('Name at most one email address.')
      return runProgram('apps/api/src/reset-owner.ts', args, settings)
    },
  },
}
