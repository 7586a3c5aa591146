-- Links between pages of the repository become links between pages of the site; other files that a page refers to are listed
-- in SITE_FILES, to be copied.
local page = os.getenv("SITE_PAGE")
local files = os.getenv("SITE_FILES")
local index = os.getenv("SITE_INDEX")

local function outside(target)
  return target:match("^%a[%w+.-]*:") or target:match("^//") or target:match("^#") or target == ""
end

-- A path within the repository, from one that is relative to the page.
local function resolved(path)
  local parts = {}
  for part in ((page:match("^(.*)/[^/]*$") or "") .. "/" .. path):gmatch("[^/]+") do
    if part == ".." and #parts > 0 then
      table.remove(parts)
    elseif part ~= "." then
      table.insert(parts, part)
    end
  end
  return table.concat(parts, "/")
end

local function keep(path)
  local list = assert(io.open(files, "a"))
  list:write(resolved(path), "\n")
  list:close()
end

local function rewritten(target)
  if outside(target) then
    return target
  end
  local path, fragment = target:match("^([^#]*)(.*)$")
  if path:match("%.md$") then
    path = path:gsub("README%.md$", "index.html"):gsub("%.md$", ".html")
  elseif resolved(path) == "docs/adr" then
    path = path:gsub("/$", "") .. "/index.html"
  else
    keep(path)
  end
  return path .. fragment
end

function Link(link)
  link.target = rewritten(link.target)
  return link
end

function Image(image)
  image.src = rewritten(image.src)
  return image
end

-- Wide tables scroll by themselves, so that a page stays as wide as a phone.
function Table(table)
  return pandoc.Div({ table }, pandoc.Attr("", { "scroll" }, { tabindex = "0", role = "region", ["aria-label"] = "table" }))
end

local function quoted(text)
  return '"' .. text:gsub("%s+", " "):gsub('[\\"]', "\\%0"):gsub("<", "\\u003c") .. '"'
end

-- Text with a blank after each paragraph and cell of a table.
local function spaced(block)
  local function blank(plain)
    plain.content:insert(pandoc.Space())
    return plain
  end
  return pandoc.utils.stringify(pandoc.walk_block(pandoc.Div({ block }), { Plain = blank, Para = blank }))
end

function Pandoc(doc)
  local place = page:gsub("README%.md$", "index.html"):gsub("%.md$", ".html")
  local list = assert(io.open(index, "a"))
  local title, heading, id, text = nil, "", "", {}
  local function section()
    if title then
      local words = { quoted(place .. "#" .. id), quoted(title), quoted(heading), quoted(table.concat(text, " ")) }
      list:write("[", table.concat(words, ","), "],\n")
    end
  end
  for _, block in ipairs(doc.blocks) do
    if block.t == "Header" then
      section()
      heading, id, text = pandoc.utils.stringify(block), block.identifier, {}
      title = title or heading
    else
      table.insert(text, spaced(block))
    end
  end
  section()
  list:close()
end
