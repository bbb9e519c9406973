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
package org.sparkrdma.verbs.soft.shared;

/**
 * What peers need to know of a region besides its key.
 *
 * @param address its first address, in the address space of its owner
 * @param fileOffset offset of that address in the file
 * @param fileId of the file that peers open, see {@link SharedDirectory#file}
 * @param domainId of the owner's protection domain
 * @param access as {@link AccessBits}
 */
public record RegionEntry(
    long address, long lengthBytes, long fileOffset, long fileId, int domainId, int access) {}
