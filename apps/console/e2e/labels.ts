// Texts of the console for locators, by message key: tests use the new text when a message changes.
export { t } from '../src/messages/index.ts'
