import { Command } from '../../command.ts'
import { deleteSettings } from '../../settings.ts'

export const logout = () =>
  new Command('logout').action(() => {
    deleteSettings()
    process.stderr.write(
      'Deleted the saved address and token. The token stays valid until it expires or is revoked (`muster token revoke`).\n',
    )
  })
