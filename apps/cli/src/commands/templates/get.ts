import { Command, type Output } from '../../command.ts'
import { printObject } from '../../output.ts'
import { findTemplate } from './fields.ts'

export const templateGet = () =>
  new Command('get')
    .description('show one job template')
    .argument('<name>')
    .withOutput()
    .action(async (name: string, output: Output) => {
      const { versions: _, ...template } = await findTemplate(name)
      printObject(template, output, [
        ['name', template.name],
        ['display name', template.displayName],
        ['description', template.description],
        ['category', template.category],
        ['labels', template.tags.join(', ')],
        ['version', `${template.version}${template.archivedAt ? `, archived ${template.archivedAt}` : ''}`],
        [
          'source',
          [template.source.toLowerCase(), template.bundle?.name, template.gitUrl, template.gitRef].filter(Boolean).join(' '),
        ],
        ...(template.gitCredential ? [['git credential', template.gitCredential.name] as [string, string]] : []),
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
