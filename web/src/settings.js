// @ts-check
// Settings of a scenario, and the command that has them.

/**
 * The settings that a user wrote: KEY=VALUE, separated by semicolons.
 * @param {string} text
 */
export function settingsOf(text) {
  return text
    .split(";")
    .map((setting) => setting.trim())
    .filter((setting) => setting !== "");
}

/**
 * The command line that makes the same run.
 * @param {string} name
 * @param {number} seed
 * @param {string[]} settings
 */
export function commandOf(name, seed, settings) {
  const sets = settings.map((setting) => `--set ${quoted(setting)}`);
  return ["losscause simulate", quoted(name), `--seed ${seed}`, ...sets].join(" ");
}

/**
 * What has to be done before a command can read a scenario: nothing for the repository's own.
 * @param {string} name
 */
export function savedAs(name) {
  return /^(scenarios\/)?own\.toml$/.test(name) ? `, with the text saved as ${name}` : "";
}

/**
 * A word as a shell reads it.
 * @param {string} word
 */
function quoted(word) {
  return /^[\w./=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
