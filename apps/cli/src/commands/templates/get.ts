import { Command, type Output } from '../../command.ts'
import { printObject } from '../../output.ts'
import { findTemplate } from './fields.ts'

export const templateGet = () =>
  new Command('get')
    .description('show one job template')
    .argument('<name>')
    .withOutput()
    .action(async (name: string, output: Output) => {
      const template = await findTemplate(name)
      const { settings } = template
      printObject(template, output, [
        ['name', template.name],
        ['display name', template.displayName],
        ['description', template.description],
        ['category', template.category],
        ['labels', template.tags.join(', ')],
        ['version', `${template.version}${template.archivedAt ? `, archived ${template.archivedAt}` : ''}`],
        [
          'source',
          [settings.source.toLowerCase(), settings.bundle?.name, settings.git?.url, settings.git?.ref].filter(Boolean).join(' '),
        ],
        ...(settings.git?.credential ? [['git credential', settings.git.credential.name] as [string, string]] : []),
        ['playbook', settings.playbookPath],
        ['become', settings.become ? `${settings.becomeUser} by ${settings.becomeMethod.toLowerCase()}` : 'no'],
        ['timeout', `${settings.timeoutSeconds} s`],
        ['forks', settings.forks],
        ['serial', settings.serial],
        ['max fail', settings.maxFailPercentage === null ? null : `${settings.maxFailPercentage} %`],
        ['tags', settings.jobTags.join(',')],
        ['skip tags', settings.skipTags.join(',')],
        ['default vars', JSON.stringify(settings.defaultVars)],
        ['input schema', settings.inputSchema === null ? null : JSON.stringify(settings.inputSchema)],
        ['changes nodes', settings.isReadOnly ? 'no' : 'yes'],
      ])
    })
