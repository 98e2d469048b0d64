import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { groupId } from '../../lookup.ts'
import { printRows } from '../../output.ts'

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

export const bootDurations = () =>
  new Command('durations')
    .description('show how long the stages of boots took within 30 days')
    .option('--group <name>', 'only nodes of this group')
    .option('--profile <name>', 'only boots with this boot profile')
    .withOutput()
    .action(async ({ group, profile, ...output }: Output & { group?: string; profile?: string }) => {
      const filter = { groupId: group === undefined ? null : await groupId(group), profile: profile ?? null }
      const { bootDurations } = await request(
        graphql(
          `query BootDurations($filter: BootDurationFilter) { bootDurations(filter: $filter) { stage boots p50Ms p95Ms } }`,
        ),
        { filter },
      )
      printRows(
        bootDurations,
        [
          { title: 'STAGE', value: (each) => each.stage },
          { title: 'BOOTS', value: (each) => String(each.boots) },
          { title: 'P50', value: (each) => seconds(each.p50Ms) },
          { title: 'P95', value: (each) => seconds(each.p95Ms) },
        ],
        output,
        'No boots within 30 days.',
      )
    })
