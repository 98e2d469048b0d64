import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { findRoute, type RouteOptions, routeFields, routeSecrets, withRouteFields } from './fields.ts'

export const alertRouteUpdate = () =>
  withRouteFields(
    new Command('update')
      .description("change, enable or disable a route; '' clears a field; pending messages are retried immediately")
      .argument('<name>')
      .option('--on', 'enable it')
      .option('--off', 'disable it and drop its pending messages')
      .option('--secrets', 'ask for a new address and secret'),
  ).action(async (name: string, options: RouteOptions & { on?: true; off?: true; secrets?: true }) => {
    const { id, kind } = await findRoute(name)
    const { updateAlertRoute } = await request(
      graphql(`mutation AlertRouteUpdate($input: UpdateAlertRouteInput!) {
        updateAlertRoute(input: $input) { __typename ... on UpdateAlertRoutePayload { alertRoute { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
      }`),
      {
        input: {
          id,
          ...routeFields(options),
          ...(options.secrets || options.stdin ? await routeSecrets(kind, options) : {}),
          ...(options.on || options.off ? { isEnabled: options.on === true } : {}),
        },
      },
    )
    process.stderr.write(`Updated ${orThrow(updateAlertRoute).alertRoute.name}.\n`)
  })
