/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
