import { Command } from '../../../command.ts'
import { oneOf } from '../../../options.ts'
import { type ActionOptions, runAction, withAction } from './run-action.ts'

const parseState = oneOf('UP', 'DOWN', 'DRAIN', 'INACTIVE')

export const slurmPartitionSetState = () =>
  withAction(
    new Command('set-state')
      .description('open and close partitions')
      .argument(
        '<state>',
        'up; down: accepts jobs and starts none; drain: starts jobs and accepts none; inactive: neither',
        parseState,
      )
      .argument('<names...>'),
  ).action(async (partitionState: ReturnType<typeof parseState>, partitions: string[], options: ActionOptions) =>
    runAction(`Set to ${partitionState}`, { verb: 'SET_PARTITION_STATE', partitions, partitionState }, options),
  )
