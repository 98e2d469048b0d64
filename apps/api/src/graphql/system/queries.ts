import { runSystemChecks, systemPermissions } from '@muster/core/system'
import { builder } from '../../builder.ts'
import { SystemCheck } from './types.ts'

builder.queryField('systemChecks', (t) =>
  t.field({
    type: [SystemCheck],
    description:
      'Runs the checks of the installation: configuration, files, TLS, clocks, keys, migrations, disks, workers and queue. Ordered by check; at most a few per process. Workers report theirs once a minute.',
    authScopes: { permission: systemPermissions.check },
    resolve: (_root, _args, { ctx, deps }) => runSystemChecks(ctx, deps.systemChecks ?? (async () => [])),
  }),
)
