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
 * How much memory an executor may pin, found from what the machine, the container and Spark's own
 * settings leave, and whether the machine lets it: {@link org.sparkrdma.shuffle.pinned.PinnedLimit}
 * and {@link org.sparkrdma.shuffle.pinned.Preflight}. No threads; all of it runs once, when RDMA
 * starts.
 */
package org.sparkrdma.shuffle.pinned;
