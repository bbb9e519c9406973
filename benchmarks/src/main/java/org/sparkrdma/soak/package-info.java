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
/**
 * The command behind {@code ./soak}: one long-lived application under random faults, its executors
 * watched from outside, and a verdict whether what they hold stays flat.
 *
 * <p>Entry: {@link org.sparkrdma.soak.Soak}. The main thread waits for the application; one thread
 * beside it looks at the executors and troubles them.
 */
package org.sparkrdma.soak;
