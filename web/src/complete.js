// @ts-check
// What can be written at a place of a scenario: keys and values of its schema, names of links, algorithms and their settings.

/**
 * @typedef {object} Schema
 * @property {string} [$ref]
 * @property {string} [description]
 * @property {string} [const]
 * @property {string | string[]} [type]
 * @property {Schema[]} [anyOf]
 * @property {Schema[]} [oneOf]
 * @property {Schema} [items]
 * @property {Record<string, Schema>} [properties]
 * @property {Schema | boolean} [additionalProperties]
 */
/** @typedef {Schema & { $defs: Record<string, Schema> }} Root */
/** @typedef {{ name: string, summary: string, settings: [string, string][] }} Algorithm */
/**
 * What is written in the place of `text` from `from` to `to`.
 * @typedef {{ from: number, to: number, items: Item[] }} Completion
 */
/** @typedef {{ insert: string, label: string, about: string }} Item */

/**
 * A table or an array that is open at the caret. In a path, "[]" stands for an element.
 * @typedef {object} Open
 * @property {"table" | "array"} what
 * @property {string[]} path
 * @property {Record<string, string>} written the keys of a table, with values that are strings
 */
/**
 * @typedef {object} Place
 * @property {"header" | "key" | "value"} what
 * @property {Open} open
 * @property {string[]} path of the value, or of the table whose key it is
 * @property {number} from where the word begins
 */

/**
 * The place of the caret; none within a comment, a number or behind a whole value.
 * @param {string} text
 * @param {number} caret
 * @returns {Place | null}
 */
export function placeOf(text, caret) {
  /** @type {Open[]} */
  let stack = [{ what: "table", path: [], written: {} }];
  /** @type {string[]} */
  let key = [];
  /** @type {"key" | "equals" | "value" | "done"} */
  let state = "key";
  const top = () => stack[stack.length - 1];
  const valuePath = () => (top().what === "array" ? [...top().path, "[]"] : [...top().path, ...key]);
  /** @param {number} from @returns {Place | null} */
  const at = (from) => {
    if (state === "key") return { what: "key", open: top(), path: [...top().path, ...key], from };
    return state === "value" ? { what: "value", open: top(), path: valuePath(), from } : null;
  };
  /** @param {string} word */
  const took = (word) => {
    if (state === "key") key.push(word);
    else if (state === "value") {
      if (top().what === "table") top().written[key.join(".")] = word;
      state = "done";
    }
  };
  let i = 0;
  while (i < caret) {
    const letter = text[i];
    if (letter === "#") {
      const end = text.indexOf("\n", i);
      if (end < 0 || end >= caret) return null;
      i = end;
    } else if (letter === "\n") {
      if (stack.length === 1) [state, key] = ["key", []];
      i += 1;
    } else if (letter === '"' || letter === "'") {
      const mark = text.startsWith(letter.repeat(3), i) ? letter.repeat(3) : letter;
      let end = i + mark.length;
      while (end < text.length && !text.startsWith(mark, end) && (mark.length === 3 || text[end] !== "\n")) {
        end += letter === '"' && text[end] === "\\" ? 2 : 1;
      }
      if (end >= caret) return at(i);
      took(text.slice(i + mark.length, end));
      i = end + mark.length;
    } else if (/[\w+-]/.test(letter) || (letter === "." && state === "value")) {
      const end = i + (/^[\w+.-]*/.exec(state === "value" ? text.slice(i) : text.slice(i).replace(/\..*/s, ""))?.[0].length ?? 1);
      if (end >= caret) return at(i);
      took(text.slice(i, end));
      i = end;
    } else if (letter === "[" && state === "key" && stack.length === 1 && key.length === 0) {
      const [header, names] = /^\[\[?([^\]\n]*)\]{0,2}/.exec(text.slice(i)) ?? ["[", ""];
      const isArray = header.startsWith("[[");
      if (i + header.length > caret || !header.endsWith("]")) return { what: "header", open: top(), path: [], from: i };
      const path = names.split(".").map((name) => name.trim().replace(/^(["'])(.*)\1$/, "$2"));
      stack = [{ what: "table", path: isArray ? [...path, "[]"] : path, written: {} }];
      state = "done";
      i += header.length;
    } else {
      if (letter === "=" && state === "key") state = "value";
      else if (letter === "{" && state === "value") {
        stack.push({ what: "table", path: valuePath(), written: {} });
        [state, key] = ["key", []];
      } else if (letter === "[" && state === "value") {
        stack.push({ what: "array", path: valuePath(), written: {} });
      } else if (letter === "," && stack.length > 1) {
        [state, key] = top().what === "array" ? ["value", key] : ["key", []];
      } else if ((letter === "}" || letter === "]") && stack.length > 1) {
        stack.pop();
        state = "done";
      }
      i += 1;
    }
  }
  return at(caret);
}

/**
 * The schemas that a schema stands for, without references and alternatives.
 * @param {Root} root
 * @param {Schema} schema
 * @returns {Schema[]}
 */
function plain(root, schema) {
  const about = schema.description ? { description: schema.description } : {};
  if (schema.$ref) {
    const found = root.$defs[schema.$ref.slice("#/$defs/".length)];
    return found ? plain(root, found) : [];
  }
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (!alternatives) return [schema];
  return alternatives.flatMap((alternative) => plain(root, alternative)).map((each) => ({ ...about, ...each }));
}

/**
 * The schemas of what stands at `path`.
 * @param {Root} root
 * @param {string[]} path
 * @returns {Schema[]}
 */
function schemasAt(root, path) {
  /** @type {Schema[]} */
  let schemas = [root];
  for (const name of path) {
    schemas = schemas.flatMap((schema) => {
      const { additionalProperties: others, properties } = schema;
      const next = name === "[]" ? schema.items : (properties?.[name] ?? (typeof others === "object" ? others : undefined));
      return next ? plain(root, next) : [];
    });
  }
  return schemas;
}

/** @param {string} [text] */
const about = (text) => (text ?? "").replaceAll("\n", " ");

/** @param {string} word */
const quoted = (word) => JSON.stringify(word);

/** A key as it is written in a header. @param {string} word */
const asKey = (word) => (/^[\w-]+$/.test(word) ? word : quoted(word));

/**
 * The keys of the table at a place that are not written yet.
 * @param {Root} root
 * @param {Place} place
 * @param {Record<string, string>} written
 * @param {Algorithm[]} algorithms
 * @returns {Item[]}
 */
function keys(root, { path }, written, algorithms) {
  const [section, name] = path;
  if (section === "lda" && path.length === 2) {
    const settings = algorithms.find((algorithm) => algorithm.name === name)?.settings ?? [];
    return settings.filter(([key]) => !(key in written)).map(([key, meaning]) => ({ insert: `${key} = `, label: key, about: meaning }));
  }
  let schemas = schemasAt(root, path).filter(({ properties }) => properties);
  // A table of several kinds says its kind first.
  if (schemas.length > 1 && schemas.every(({ properties }) => properties?.kind)) {
    const chosen = schemas.filter(({ properties }) => properties?.kind?.const === written.kind);
    schemas = chosen.length > 0 ? chosen : [{ properties: { kind: { description: "What it is." } } }];
  }
  /** @type {Map<string, Item>} */
  const items = new Map();
  for (const [key, schema] of schemas.flatMap(({ properties }) => Object.entries(properties ?? {}))) {
    if (key in written || items.has(key)) continue;
    // A table or a list of tables of the top level has a header of its own.
    const isTable = path.length === 0 && plain(root, schema).some(({ properties, additionalProperties, items }) => properties || additionalProperties || items);
    if (!isTable) items.set(key, { insert: `${key} = `, label: key, about: about(schema.description ?? plain(root, schema)[0]?.description) });
  }
  return [...items.values()];
}

/**
 * The values of a key that can be named.
 * @param {Root} root
 * @param {Place} place
 * @param {string} text
 * @param {Algorithm[]} algorithms
 * @returns {Item[]}
 */
function values(root, { path }, text, algorithms) {
  const where = path.join(".");
  const word = (/** @type {string} */ name, /** @type {string} */ what) => ({ insert: quoted(name), label: name, about: what });
  if (where === "flow.[].lda") return algorithms.map(({ name, summary }) => word(name, summary));
  if (/^flow\.\[\]\.(path|return_path)\.\[\]$|^measure\.bottleneck$|^measure\.bottleneck\.\[\]\.link$/.test(where)) {
    return linksOf(text).map((name) => word(name, "A link of this scenario."));
  }
  const kinds = path[path.length - 1] === "kind" ? schemasAt(root, path.slice(0, -1)) : [];
  const ofKinds = kinds.flatMap(({ properties, description }) =>
    typeof properties?.kind?.const === "string" ? [word(properties.kind.const, about(description))] : [],
  );
  if (ofKinds.length > 0) return ofKinds;
  return schemasAt(root, path).flatMap((schema) => {
    if (typeof schema.const === "string") return [word(schema.const, about(schema.description))];
    if ([schema.type].flat().includes("boolean")) {
      return ["true", "false"].map((insert) => ({ insert, label: insert, about: about(schema.description) }));
    }
    // A table of several kinds is begun with its kind.
    const kind = schema.properties?.kind?.const;
    return typeof kind === "string" ? [{ insert: `{ kind = ${quoted(kind)} }`, label: kind, about: about(schema.description) }] : [];
  });
}

/** The names of the links of a scenario. @param {string} text */
function linksOf(text) {
  const names = [...text.matchAll(/^\s*\[\[\s*link\s*\]\][^[]*?^\s*name\s*=\s*"([^"]+)"/gms)].map(([, name]) => name);
  const inLine = /^\s*link\s*=\s*\[(.*?)^\s*(?:\[|\w+\s*=)/ms.exec(`${text}\n[`)?.[1] ?? "";
  return [...new Set([...names, ...[...inLine.matchAll(/\bname\s*=\s*"([^"]+)"/g)].map(([, name]) => name)])];
}

/**
 * Headers of tables: [measure], [[link]], [tcp.vegas], [lda.Spike].
 * @param {Root} root
 * @param {Algorithm[]} algorithms
 * @returns {Item[]}
 */
function headers(root, algorithms) {
  const header = (/** @type {string} */ insert, /** @type {string | undefined} */ what) => ({ insert, label: insert, about: about(what) });
  return Object.entries(root.properties ?? {}).flatMap(([name, schema]) => {
    const found = plain(root, schema);
    const what = schema.description ?? found[0]?.description;
    if (name === "lda") return algorithms.filter(({ settings }) => settings.length > 0).map((each) => header(`[lda.${asKey(each.name)}]`, each.summary));
    if (found.some(({ items }) => items)) return [header(`[[${name}]]`, what)];
    const table = found.find(({ properties, additionalProperties }) => properties || additionalProperties);
    if (!table) return [];
    const inner = Object.entries(table.properties ?? {}).filter(([, each]) => plain(root, each).some((one) => one.properties && !one.properties.kind));
    return [header(`[${name}]`, what), ...inner.map(([key, each]) => header(`[${name}.${key}]`, each.description ?? plain(root, each)[0]?.description))];
  });
}

/** The keys that stand below the caret, up to the next header. @param {string} text */
function keysBelow(text) {
  const rest = text.slice(Math.max(text.indexOf("\n"), 0)).split(/^\s*\[/m)[0];
  return Object.fromEntries([...rest.matchAll(/^\s*([\w-]+)\s*=/gm)].map(([, key]) => [key, ""]));
}

/**
 * What can be written at the caret, best first; none if nothing fits.
 * @param {Root} root the schema of scenarios
 * @param {Algorithm[]} algorithms
 * @param {string} text
 * @param {number} caret
 * @returns {Completion | null}
 */
export function complete(root, algorithms, text, caret) {
  const place = placeOf(text, caret);
  if (!place) return null;
  const isInline = place.open.what === "table" && /[{,][^\n]*$/.test(text.slice(0, caret)) && place.open.path.length > 1;
  const written = place.what === "key" && !isInline ? { ...keysBelow(text.slice(caret)), ...place.open.written } : place.open.written;
  const all = place.what === "header" ? headers(root, algorithms) : place.what === "key" ? keys(root, place, written, algorithms) : values(root, place, text, algorithms);
  const begun = text.slice(place.from, caret);
  const said = begun.replace(/^["'[]+/, "").toLowerCase();
  const bare = (/** @type {Item} */ { label }) => label.replace(/^\[+/, "").toLowerCase();
  // A word of the name begins so; the names that begin so come first.
  const fits = all.filter((item) => ["", "_", "-", ".", " ", '"'].some((before) => (before === "" ? bare(item).startsWith(said) : bare(item).includes(before + said))));
  const items = fits.sort((a, b) => Number(!bare(a).startsWith(said)) - Number(!bare(b).startsWith(said)));
  // The rest of the word, and what closes it, are replaced as well.
  const rest = place.what === "header" ? /^[^\]\n]*\]{0,2}/ : /^["']/.test(begun) ? /^[^"'\n]*["']?/ : place.what === "key" ? /^[\w-]*(\s*=[ ]?)?/ : /^[\w-]*/;
  const to = caret + (rest.exec(text.slice(caret))?.[0].length ?? 0);
  if (items.length === 0 || (items.length === 1 && items[0].insert.trim() === text.slice(place.from, to).trim())) return null;
  return { from: place.from, to, items };
}
