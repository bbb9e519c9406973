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
package org.sparkrdma.scenarios.faults.plan;

import java.io.Serializable;
import java.util.List;

/**
 * What came of the rules in one process.
 *
 * @param hits times that each rule struck, each with a block under way
 * @param firstMs when the first rule did first, as {@link System#currentTimeMillis}; 0 if never
 * @param clashes READs into memory that an earlier READ might still have written
 */
public record Report(List<Integer> hits, long firstMs, int clashes) implements Serializable {}
