import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { findRoute, type RouteOptions, routeFields, routeSecrets, withRouteFields } from './fields.ts'

export const alertRouteUpdate = () =>
  withRouteFields(
    new Command('update')
      .description(
        "change what is given of a route, or switch it on and off; an option given as '' takes away; what waits for it is tried again at once",
      )
      .argument('<name>')
      .option('--on', 'switch it on')
      .option('--off', 'switch it off; what waits for it is given up')
      .option('--secrets', 'ask for another address and secret'),
  ).action(async (name: string, options: RouteOptions & { on?: true; off?: true; secrets?: true }) => {
    const { id, kind } = await findRoute(name)
    const { updateAlertRoute } = await request(
      graphql(`mutation AlertRouteUpdate($input: UpdateAlertRouteInput!) {
        updateAlertRoute(input: $input) { __typename ... on AlertRoute { name } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
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
    process.stderr.write(`Changed ${orThrow(updateAlertRoute).name}.\n`)
  })
