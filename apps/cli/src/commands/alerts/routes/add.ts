import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { oneOf } from '../../../options.ts'
import { CREATE, ROUTE_KINDS, type RouteKind, type RouteOptions, routeFields, routeSecrets, withRouteFields } from './fields.ts'

export const alertRouteAdd = () =>
  withRouteFields(
    new Command('add')
      .description('create an alert route; asks for its address and secret')
      .argument('<name>')
      .argument('<kind>', ROUTE_KINDS.join(', '), oneOf(...ROUTE_KINDS)),
  ).action(async (name: string, kind: RouteKind, options: RouteOptions) => {
    const { createAlertRoute } = await request(CREATE, {
      input: { name, kind, ...routeFields(options), ...(await routeSecrets(kind, options)) },
    })
    process.stderr.write(
      `Created ${orThrow(createAlertRoute).alertRoute.name}. Test it with \`muster alert-route test ${name}\`.\n`,
    )
  })
