import { Command, type Output } from '../../command.ts'
import { ago, isTable, printObject, printRows } from '../../output.ts'
import { ONE_NODE_HELP } from '../../selector.ts'
import { attemptsOf, profileText } from './attempts.ts'

export const bootTimeline = () =>
  new Command('timeline')
    .description('show the stages of the last boot of a node, and where it is stuck')
    .argument('<selector>', ONE_NODE_HELP)
    .withOutput()
    .action(async (selector: string, output: Output) => {
      const { node, attempts } = await attemptsOf(selector, 1)
      const [attempt] = attempts
      if (attempt && !isTable(output)) return printObject(attempt, output)
      printRows(
        attempt?.timeline ?? [],
        [
          { title: 'STAGE', value: (entry) => entry.stage },
          { title: 'AT', value: (entry) => entry.reachedAt },
          { title: 'TOOK', value: (entry) => (entry.durationMs === null ? null : `${(entry.durationMs / 1000).toFixed(1)} s`) },
        ],
        output,
        `${node.name} has not booted over the network yet.`,
      )
      if (!attempt) return
      const profile = profileText(attempt)
      const stuck = attempt.stuck ? `, stuck at ${attempt.stuck.stage} since ${ago(attempt.stuck.since)}` : ''
      process.stdout.write(`${attempt.state}${stuck}${profile ? `, boot profile ${profile}` : ''}\n`)
    })
