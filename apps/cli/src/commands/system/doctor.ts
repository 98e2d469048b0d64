import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { printRows } from '../../output.ts'

const CHECKS = graphql(`query SystemChecks { systemChecks { check source severity message nextStep } }`)

export const doctor = () =>
  new Command('doctor')
    .description('check the installation and show the next step for each problem; exit code 1 when there is an error')
    .withOutput()
    .action(async (output: Output) => {
      const { systemChecks } = await request(CHECKS, {})
      printRows(
        systemChecks,
        [
          { title: 'RESULT', value: ({ severity }) => severity.toLowerCase() },
          { title: 'CHECK', value: ({ check }) => check.toLowerCase().replaceAll('_', ' ') },
          { title: 'SOURCE', value: ({ source }) => source },
          { title: 'MESSAGE', value: ({ message, nextStep }) => (nextStep ? `${message} Next step: ${nextStep}` : message) },
        ],
        output,
        'No checks.',
      )
      if (systemChecks.some(({ severity }) => severity === 'ERROR')) process.exitCode = 1
    })
