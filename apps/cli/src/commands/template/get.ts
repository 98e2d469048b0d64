import { Command } from 'commander'
import { type Format, outputOption, printObject } from '../../output.ts'
import { findTemplate } from './fields.ts'

export const templateGet = () =>
  new Command('get')
    .description('one job template')
    .argument('<name>')
    .addOption(outputOption())
    .action(async (name: string, { output }: { output: Format }) => {
      const { versions: _, ...template } = await findTemplate(name)
      printObject(template, output, [
        ['name', template.name],
        ['display name', template.displayName],
        ['description', template.description],
        ['category', template.category],
        ['words', template.tags.join(', ')],
        ['version', `${template.version}${template.archivedAt ? `, archived at ${template.archivedAt}` : ''}`],
        [
          'source',
          [template.source.toLowerCase(), template.bundle?.name, template.gitUrl, template.gitRef].filter(Boolean).join(' '),
        ],
        ...(template.gitCredential ? [['opened with', template.gitCredential.name] as [string, string]] : []),
        ['playbook', template.playbookPath],
        ['become', template.become ? `${template.becomeUser} by ${template.becomeMethod.toLowerCase()}` : 'no'],
        ['timeout', `${template.timeoutSeconds} s`],
        ['forks', template.forks],
        ['serial', template.serial],
        ['max fail', template.maxFailPercentage === null ? null : `${template.maxFailPercentage} %`],
        ['tags', template.jobTags.join(',')],
        ['skip tags', template.skipTags.join(',')],
        ['default vars', JSON.stringify(template.defaultVars)],
        ['input schema', template.inputSchema === null ? null : JSON.stringify(template.inputSchema)],
        ['changes nodes', template.isReadOnly ? 'no' : 'yes'],
      ])
    })
