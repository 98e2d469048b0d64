// Texts of the console for locators, by message key: tests follow the catalogue when a text changes.
export { t } from '../src/messages/index.ts'
