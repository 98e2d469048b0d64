import { Command } from '../../../command.ts'
import { commaList, integer, omitUndefined, oneOf } from '../../../options.ts'
import { type ActionInput, type ActionOptions, runAction, withAction } from './run-action.ts'

type Options = ActionOptions & {
  partition?: string
  state?: string[]
  nextState?: 'RESUME' | 'DOWN'
  features?: string[]
  weight?: number
}

const nodeAction = (
  name: string,
  verb: ActionInput['verb'],
  what: string,
  description: string,
  extend: (command: Command) => Command = (command) => command,
) =>
  withAction(
    extend(
      new Command(name)
        .description(description)
        .argument('[hostlist]', 'names, for example gpu[001-064]')
        .option('--partition <name>', 'nodes of this partition')
        .option(
          '--state <states>',
          'nodes with any of these shown states or flags, separated by commas; idle also finds idle*, drain all drained nodes',
          commaList,
        ),
    ),
  ).action(async (hostlist: string | undefined, { partition, state, nextState, features, weight, ...options }: Options) =>
    runAction(
      what,
      { verb, nodes: omitUndefined({ hostlist, partition, states: state }), ...omitUndefined({ nextState, features, weight }) },
      options,
    ),
  )

export const slurmNodeActions = () => [
  nodeAction('drain', 'DRAIN_NODES', 'Drain', 'drain nodes: running jobs continue, no others start'),
  nodeAction('resume', 'RESUME_NODES', 'Resume', 'end drains, and make nodes that are down available'),
  nodeAction('undrain', 'UNDRAIN_NODES', 'End the drain of', 'end drains; nodes that are down stay down'),
  nodeAction('down', 'DOWN_NODES', 'Set down', 'set nodes down: Slurm ends or requeues their jobs'),
  nodeAction('power-up', 'POWER_UP_NODES', 'Power up', 'power nodes up through Slurm'),
  nodeAction('power-down', 'POWER_DOWN_NODES', 'Power down', 'power nodes down through Slurm, after the end of their jobs'),
  nodeAction('reboot', 'REBOOT_NODES', 'Reboot', 'reboot nodes after the end of their jobs; no others start before', (command) =>
    command.option('--next-state <state>', 'state after the reboot: resume or down (default: resume)', oneOf('RESUME', 'DOWN')),
  ),
  nodeAction(
    'update',
    'UPDATE_NODES',
    'Change',
    'change features and weight, until slurmctld reads slurm.conf again',
    (command) =>
      command
        .option('--features <names>', 'all features, separated by commas', commaList)
        .option('--weight <n>', 'weight; nodes with a low weight are used first', integer),
  ),
]
