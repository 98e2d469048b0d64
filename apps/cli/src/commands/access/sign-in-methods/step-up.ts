import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { integer } from '../../../options.ts'

const minutesOrOff = (text: string): number | null => (text === 'off' ? null : integer(text))

export const signInStepUp = () =>
  new Command('step-up')
    .description('set the time after which members must confirm their identity again for sensitive changes; for owners')
    .argument('<minutes>', 'minutes since the sign-in or the last confirmation, 1 to 1440, or off', minutesOrOff)
    .action(async (minutes: number | null) => {
      const { setStepUp } = await request(
        graphql(`mutation StepUpSet($input: SetStepUpInput!) {
          setStepUp(input: $input) {
            __typename ... on SetStepUpPayload { tenant { name stepUpMinutes } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { input: { minutes } },
      )
      const { tenant } = orThrow(setStepUp)
      process.stderr.write(
        tenant.stepUpMinutes === null
          ? `Members of ${tenant.name} need not confirm their identity again.\n`
          : `Members of ${tenant.name} must confirm their identity again after ${tenant.stepUpMinutes} min.\n`,
      )
    })
