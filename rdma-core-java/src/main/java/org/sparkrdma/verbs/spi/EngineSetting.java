// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.spi;

/**
 * A setting of an engine.
 *
 * @param key its name, beginning with the engine's name and a dot, as in {@code soft.latency}
 * @param defaultValue the value when it is not set, in the form a user would write
 * @param allowed the allowed values in words, units included
 * @param meaning its description
 */
public record EngineSetting(String key, String defaultValue, String allowed, String meaning) {}
