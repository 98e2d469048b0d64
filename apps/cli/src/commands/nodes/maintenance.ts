import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { omitUndefined, wholeNumber } from '../../options.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'
import { forEachNode } from './for-each-node.ts'
import { previewNodeState } from './preview-node-state.ts'

type Options = { end?: true; reason?: string; minutes?: number; preview?: true }

export const nodeMaintenance = () =>
  new Command('maintenance')
    .description(
      'start, change or end maintenance: runs that include the nodes are refused, and their alerts send no notifications',
    )
    .argument('<selector>', SELECTOR_HELP)
    .option('--reason <text>', 'reason, shown with the node')
    .option('--minutes <n>', 'end by itself after this time, 0 for never; default: keep the end, at first never', wholeNumber)
    .option('--end', 'end maintenance')
    .option('--preview', 'change nothing; print running jobs, runs and alerts of the nodes')
    .action(async (selector: string, { end, reason, minutes, preview }: Options) => {
      if (end && (reason || minutes !== undefined || preview))
        throw new CliError('--end cannot be combined with --reason, --minutes or --preview.', EXIT.usage)
      const nodes = await selectNodes(selector)
      if (preview) return previewNodeState(nodes, 'MAINTENANCE')
      const endsAt = minutes ? new Date(Date.now() + minutes * 60_000).toISOString() : minutes === 0 ? null : undefined
      await forEachNode(
        nodes,
        async ({ id }) =>
          (
            await request(
              graphql(`mutation NodeMaintenance($input: SetNodeMaintenanceInput!) {
                setNodeMaintenance(input: $input) {
                  __typename ... on SetNodeMaintenancePayload { node { status maintenanceEndsAt } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
                }
              }`),
              { input: { id, enabled: !end, ...(reason ? { reason } : {}), ...omitUndefined({ endsAt }) } },
            )
          ).setNodeMaintenance,
        ({ node }) => (node.maintenanceEndsAt ? `${node.status} until ${node.maintenanceEndsAt}` : node.status),
      )
    })
