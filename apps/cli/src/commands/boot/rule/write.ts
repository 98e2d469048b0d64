import { Option } from 'commander'
import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { groupId } from '../../../lookup.ts'
import { commaList, wholeNumber } from '../../../options.ts'
import { readProfile } from '../../boot-profiles/read.ts'
import { ruleId } from './read.ts'

type Options = {
  mac?: string[]
  interfaceMac?: string[]
  serial?: string[]
  uuid?: string[]
  arch?: 'x86_64' | 'aarch64' | 'any'
  names?: string
  group?: string
  profile?: string
  priority?: number
  max?: number
  enable?: true
  disable?: true
}

const withFields = (command: Command): Command =>
  command
    .option('--mac <prefixes>', "comma-separated prefixes of the boot MAC; '' matches any", commaList)
    .option('--interface-mac <prefixes>', "comma-separated MAC prefixes that one interface must match; '' matches any", commaList)
    .option('--serial <patterns>', "comma-separated serial numbers, with * for any text; '' matches any", commaList)
    .option('--uuid <patterns>', "comma-separated system UUIDs, with * for any text; '' matches any", commaList)
    .addOption(new Option('--arch <arch>', 'architecture').choices(['x86_64', 'aarch64', 'any']))
    .option('--group <name>', "group to add the nodes to; '' for none")
    .option('--profile <name>', "boot profile to assign to the nodes; '' for none")
    .option('--priority <n>', 'if several rules match, the lowest number decides (default of new rules: 100)', wholeNumber)
    .option('--max <n>', 'maximum number of machines to accept (default of new rules: 100)', wholeNumber)
    .addOption(new Option('--disable', 'accept no machines').conflicts('enable'))

async function fields({ mac, interfaceMac, serial, uuid, arch, group, profile, priority, max, enable, disable }: Options) {
  return {
    macPrefixes: mac,
    interfaceMacPrefixes: interfaceMac,
    serials: serial,
    systemUuids: uuid,
    arch: arch === 'any' ? null : arch,
    groupId: group === undefined ? undefined : group === '' ? null : await groupId(group),
    profileId: profile === undefined ? undefined : profile === '' ? null : (await readProfile(profile)).id,
    priority,
    maxAccepted: max,
    isEnabled: enable ? true : disable ? false : undefined,
  }
}

export const ruleCreate = () =>
  withFields(
    new Command('create')
      .description('create a rule that accepts unknown machines as new nodes')
      .argument('<name>', 'name of the new rule')
      .requiredOption('--names <hostlist>', 'node names, such as cn[001-064]; a machine gets the first unused one'),
  ).action(async (name: string, { names, ...options }: Options) => {
    const { createBootRule } = await request(
      graphql(`mutation BootRuleCreate($input: CreateBootRuleInput!) {
        createBootRule(input: $input) {
          __typename ... on CreateBootRulePayload { bootRule { name } }
          ... on Error { code message } ... on InvalidInputError { issues { path message } }
        }
      }`),
      { input: { name, names: names!, ...(await fields(options)) } },
    )
    process.stderr.write(`Created ${orThrow(createBootRule).bootRule.name}. \`muster boot rule list\` shows what it accepts.\n`)
  })

export const ruleUpdate = () =>
  withFields(
    new Command('update')
      .description('change a rule')
      .argument('<rule>')
      .option('--names <hostlist>', 'node names')
      .option('--enable', 'accept machines again'),
  ).action(async (name: string, { names, ...options }: Options) => {
    const { updateBootRule } = await request(
      graphql(`mutation BootRuleUpdate($input: UpdateBootRuleInput!) {
        updateBootRule(input: $input) {
          __typename ... on UpdateBootRulePayload { bootRule { name } }
          ... on Error { code message } ... on InvalidInputError { issues { path message } }
        }
      }`),
      { input: { id: await ruleId(name), names, ...(await fields(options)) } },
    )
    process.stderr.write(`Updated ${orThrow(updateBootRule).bootRule.name}.\n`)
  })

export const ruleDelete = () =>
  new Command('delete')
    .description('delete a rule; the nodes that it accepted stay')
    .argument('<rule>')
    .action(async (name: string) => {
      const { deleteBootRule } = await request(
        graphql(`mutation BootRuleDelete($id: ID!) {
          deleteBootRule(input: { id: $id }) { __typename ... on DeleteBootRulePayload { deletedId } ... on Error { code message } }
        }`),
        { id: await ruleId(name) },
      )
      orThrow(deleteBootRule)
      process.stderr.write(`Deleted ${name}.\n`)
    })
