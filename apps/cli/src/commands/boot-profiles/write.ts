import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { type FieldOptions, fields, withFields } from './fields.ts'
import { readProfile } from './read.ts'

/** Prints what was saved, and what is wrong with it. */
function print(
  did: string,
  { name, version, resolved }: { name: string; version: number; resolved: { problems: string[] } },
): void {
  process.stderr.write([`${did} ${name}, version ${version}.`, ...resolved.problems, ''].join('\n'))
}

export const bootProfileCreate = () =>
  withFields(
    new Command('create')
      .description('create a boot profile; `assign` then makes nodes boot it')
      .argument('<name>', 'name of the new profile'),
  ).action(async (name: string, options: FieldOptions) => {
    const { createBootProfile } = await request(
      graphql(`mutation BootProfileCreate($input: CreateBootProfileInput!) {
        createBootProfile(input: $input) {
          __typename ... on CreateBootProfilePayload { bootProfile { name version resolved { problems } } }
          ... on Error { code message } ... on InvalidInputError { issues { path message } }
        }
      }`),
      { input: { name, ...(await fields(options)) } },
    )
    print('Created', orThrow(createBootProfile).bootProfile)
  })

export const bootProfileUpdate = () =>
  withFields(
    new Command('update').description("save a new version of a boot profile; '' inherits a field").argument('<profile>'),
  ).action(async (name: string, options: FieldOptions) => {
    const { id, version } = await readProfile(name)
    const { updateBootProfile } = await request(
      graphql(`mutation BootProfileUpdate($input: UpdateBootProfileInput!) {
        updateBootProfile(input: $input) {
          __typename ... on UpdateBootProfilePayload { bootProfile { name version resolved { problems } } }
          ... on Error { code message } ... on InvalidInputError { issues { path message } }
        }
      }`),
      { input: { id, version, ...(await fields(options)) } },
    )
    const saved = orThrow(updateBootProfile).bootProfile
    if (saved.version === version) process.stderr.write(`No changes; ${name} has version ${version}.\n`)
    else print('Updated', saved)
  })

export const bootProfileDelete = () =>
  new Command('delete')
    .description('delete a boot profile that has no children and no assignments')
    .argument('<profile>')
    .action(async (name: string) => {
      const { deleteBootProfile } = await request(
        graphql(`mutation BootProfileDelete($id: ID!) {
          deleteBootProfile(input: { id: $id }) { __typename ... on DeleteBootProfilePayload { deletedId } ... on Error { code message } }
        }`),
        { id: (await readProfile(name)).id },
      )
      orThrow(deleteBootProfile)
      process.stderr.write(`Deleted ${name}.\n`)
    })
