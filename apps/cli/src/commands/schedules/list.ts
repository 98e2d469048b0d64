import { Option } from 'commander'
import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { omitUndefined, oneOf } from '../../options.ts'
import { printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'

const LIST = graphql(`query ScheduleList($first: Int, $after: String, $filter: ScheduleFilter) {
  schedules(first: $first, after: $after, filter: $filter) {
    edges { node {
      id name description target template { name } limit rule ruleText timeZone isEnabled nextRunAt startsAt endsAt
      jitterSeconds catchUp overlap owner { name }
      firings(first: 1) { edges { node { dueAt outcome reason message run { number status } } } }
    } }
    pageInfo { hasNextPage endCursor }
  }
}`)

type Last = { outcome: string; reason: string | null; run: { number: number; status: string } | null }
/** The result of a due time in a few words: `#12 SUCCEEDED`, `SKIPPED (OVERLAP)`. */
export const resultText = ({ outcome, reason, run }: Last): string =>
  run ? `#${run.number} ${run.status}` : reason ? `${outcome} (${reason})` : outcome

type Filter = { text?: string; target?: 'RUN' | 'DISCOVERY'; enabled?: true; disabled?: true }

export const scheduleList = () =>
  new Command('list')
    .description('list schedules with their next time and last result')
    .option('--text <text>', 'only those with this text in the name, description or selector')
    .option('--target <target>', 'only RUN or DISCOVERY', oneOf('RUN', 'DISCOVERY'))
    .addOption(new Option('--enabled', 'only enabled ones').conflicts('disabled'))
    .option('--disabled', 'only disabled ones')
    .withOutput()
    .action(async ({ text, target, enabled, disabled, ...output }: Output & Filter) => {
      const filter = omitUndefined({ text, target, isEnabled: enabled ?? (disabled ? false : undefined) })
      printRows(
        await fetchAll(async (page) => (await request(LIST, { ...page, filter })).schedules),
        [
          { title: 'NAME', value: (s) => s.name },
          { title: 'TARGET', value: (s) => s.template?.name ?? 'discovery' },
          { title: 'NODES', value: (s) => s.limit },
          { title: 'RULE', value: (s) => s.rule },
          { title: 'ZONE', value: (s) => s.timeZone },
          { title: 'NEXT', value: (s) => s.nextRunAt ?? (s.isEnabled ? 'over' : 'disabled') },
          { title: 'LAST', value: (s) => s.firings.edges.map(({ node }) => resultText(node)).join('') },
          { title: 'OWNER', value: (s) => s.owner.name, wide: true },
          { title: 'WHEN', value: (s) => s.ruleText, wide: true },
        ],
        output,
        'No schedules. Create one with `muster schedule create`.',
      )
    })
