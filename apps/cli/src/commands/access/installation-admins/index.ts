import { request } from '../../../client.ts'
import { Command, commandGroup, type Output } from '../../../command.ts'
import { confirmAction, YES_HELP } from '../../../confirm.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { ago, printRows } from '../../../output.ts'
import { fetchAll } from '../../../pages.ts'

const ADMINS = graphql(`query InstallationAdmins($first: Int, $after: String) {
  installationAdmins(first: $first, after: $after) {
    edges { node { id name email createdAt } }
    pageInfo { hasNextPage endCursor }
  }
}`)

const allAdmins = () => fetchAll(async (page) => (await request(ADMINS, page)).installationAdmins)

const list = () =>
  new Command('list')
    .description('list installation administrators')
    .withOutput()
    .action(async (output: Output) => {
      printRows(
        await allAdmins(),
        [
          { title: 'NAME', value: ({ name }) => name },
          { title: 'EMAIL', value: ({ email }) => email },
          { title: 'CREATED', value: ({ createdAt }) => ago(createdAt) },
        ],
        output,
        'No installation administrators.',
      )
    })

const appoint = () =>
  new Command('appoint')
    .description('make a user an installation administrator')
    .argument('<email>')
    .action(async (email: string) => {
      const { appointInstallationAdmin } = await request(
        graphql(`mutation InstallationAdminAppoint($email: String!) {
          appointInstallationAdmin(input: { email: $email }) { __typename ... on Error { code message } }
        }`),
        { email },
      )
      orThrow(appointInstallationAdmin)
      process.stderr.write(`${email} is now an installation administrator.\n`)
    })

const dismiss = () =>
  new Command('dismiss')
    .description('remove the installation permissions of a user and of its tokens')
    .argument('<email>')
    .option('-y, --yes', YES_HELP)
    .action(async (email: string, { yes }: { yes?: true }) => {
      const admin = (await allAdmins()).find((each) => each.email === email.toLowerCase())
      if (!admin)
        throw new CliError(`No installation administrator ${email}. See \`muster installation-admin list\`.`, EXIT.notFound)
      await confirmAction(`Dismiss ${admin.name} <${admin.email}>: the installation permissions end; roles in tenants stay.`, yes)
      const { dismissInstallationAdmin } = await request(
        graphql(`mutation InstallationAdminDismiss($userId: ID!) {
          dismissInstallationAdmin(input: { userId: $userId }) { __typename ... on Error { code message } }
        }`),
        { userId: admin.id },
      )
      orThrow(dismissInstallationAdmin)
      process.stderr.write(`${email} is no longer an installation administrator.\n`)
    })

export const installationAdmin = () => commandGroup('installation-admin', [list(), appoint(), dismiss()])
