import { Command } from 'commander'
import { forgetSettings } from '../settings.ts'

export const logout = () =>
  new Command('logout')
    .description('forget the saved address and token; the token itself stays valid until it is revoked or expires')
    .action(() => {
      forgetSettings()
      process.stderr.write('Forgotten.\n')
    })
